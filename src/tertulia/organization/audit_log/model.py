"""Entries as a reader sees them, and what can be asked for."""

from typing import Any

import msgspec

from tertulia.organization.audit_log.acts import Act

MAX_PAGE = 1000
MAX_ROWS = 10_000
"""Of one answer in CSV, or in lines."""


class Thing(msgspec.Struct, frozen=True):
    """Whom or what an entry tells of. `name` is that of now, where there is one."""

    type: str
    id: int
    name: str | None


class AuditEntry(msgspec.Struct, frozen=True):
    """One act. Who did it is null if nobody was logged in, or the server itself did."""

    id: int
    timestamp: float
    act: str
    actor_id: int | None
    actor_name: str | None
    key_id: int | None
    session_id: int | None
    address: str | None
    """The network address it came from; null: the server itself, or erased."""
    user_agent: str | None
    target: Thing | None
    changes: dict[str, list[Any]]
    """By name: what was before, and what is after."""
    is_erased: bool
    """Somebody whom it names was erased: what named them is gone."""


class Search(msgspec.Struct, frozen=True):
    """What somebody looks for."""

    realm_id: int
    limit: int
    actor_id: int | None = None
    target_type: str | None = None
    target_id: int | None = None
    acts: tuple[str, ...] | None = None
    since: float | None = None
    until: float | None = None
    before: int | None = None
    after: int | None = None
    """With it the oldest come first, without it the newest."""


def acts_named(name: str) -> tuple[str, ...]:
    """An act, or all of a category; empty: there is none of that name."""
    return tuple(act.value for act in Act if name in (act.value, act.category))
