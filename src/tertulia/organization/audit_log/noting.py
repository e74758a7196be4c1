"""How features write the log: `note(tx, realm_id, Act.USER_ROLE_CHANGED, user(id), role=(before, after))`.

Who did it is taken from the request. Changes are given as (before, after); of what is made, before is None. (None, None) says
that it changed, where the values are nobody's business: a secret, an address with a secret in it.
"""

from collections.abc import Mapping
from typing import Any

from tertulia.kernel.audit import Change, Proved, Word, entry_of, source_now
from tertulia.kernel.db import Transaction
from tertulia.organization.audit_log.acts import Act

Target = tuple[str, int]
__all__ = ["Change", "Proved", "Word", "channel", "differences", "group", "note", "realm", "user"]


def note(
    tx: Transaction,
    realm_id: int,
    act: Act,
    target: Target | None = None,
    proved: Proved | None = None,
    /,
    **changes: Change,
) -> None:
    """Add an entry to the organization's log, if this transaction commits. `proved`: see `source_now`."""
    tx.note(entry_of(realm_id, act, source_now(proved), target, changes))


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Change]:
    """What is another, by name."""
    return {name: (before.get(name), value) for name, value in after.items() if before.get(name) != value}


def user(user_id: int) -> Target:
    """A person or a bot."""
    return ("user", user_id)


def channel(channel_id: int) -> Target:
    """A channel."""
    return ("channel", channel_id)


def group(group_id: int) -> Target:
    """A user group."""
    return ("group", group_id)


def realm(realm_id: int) -> Target:
    """The organization itself."""
    return ("organization", realm_id)
