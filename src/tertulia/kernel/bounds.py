"""Bounds: how much of anything somebody may pile up.

A feature declares its bounds in `bounds.py` and names them in its `feature.py`; docs/reference/limits.md is made from them,
and a test fails for a table that no bound speaks of. An operator changes one by the setting `bounds`.

Invariants:
- A bound is checked in the transaction of the write, where nobody else counts the same: under a lock that the writer has
  anyway (`check_count`), or under one of the bound's own (`check_room`). So two at once never pass it together.
- Counting stops at the bound: the check costs no more when there is more.
- Texts that come in one list are bounded in bytes as well: a text of 10,000 characters can be more than a megabyte of HTML.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol

import msgspec

from tertulia.kernel.auth import Role
from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings, SettingsError

MAX_ANSWER_BYTES = 10 * 2**20
"""Of texts in one answer, about. 5,000 ordinary messages are half of it."""

OF_PERSON = "user_id in (select id from account where id = $1 or bot_owner_id = $1)"
"""Rows of a person and of their bots, where whoever has many bots is not to have as many shares (`Caller.person_id`)."""

LONGEST_RETENTION = 36_500
"""Days. One statement of the worker looks at all organizations, and PostgreSQL cannot count back millions of years."""


class Bound(msgspec.Struct, frozen=True, kw_only=True):
    """How many of something one owner may have."""

    name: str
    """Names it in the setting, and in the documentation."""
    what: str
    """What is counted, for the documentation."""
    of: str
    """Whose: `person`, `organization`, `message` ..."""
    limit: int
    tables: tuple[str, ...]
    """Where it is stored."""
    refusal: str
    """What somebody is told who wants more; empty: nobody is refused, but see `instead`."""
    instead: str = ""
    """What happens where nobody is refused, for the documentation."""
    counted: str = ""
    """Rows of the owner `$1`, as they follow FROM; empty where the statement that writes counts by itself."""
    weight: str = ""
    """How many bytes one of the rows has, where it is bytes that are counted (`check_bytes`)."""
    code: str = "BAD_REQUEST"


EVENTS = Bound(
    name="events",
    what="events of one change; administrators have no such bound, nor has what others have to hear of it",
    of="request",
    limit=5000,
    tables=(),
    refusal="This changes too much at once ({limit} events at most): please do it in several requests.",
    code="TOO_MANY_EVENTS",
)
"""The relay and every web process read each of them, long after the request is over."""


class Otherwise(msgspec.Struct, frozen=True, kw_only=True):
    """Tables without a number of their own, and what bounds them all the same."""

    tables: tuple[str, ...]
    because: str


class Bounds(dict[str, int]):
    """The bounds an operator has changed, by name."""

    @classmethod
    def of(cls, settings: Settings, known: Iterable[Bound]) -> "Bounds":
        """What the setting says: `drafts=2000, groups=10000`."""
        found = cls(parse_bounds(settings.bounds))
        if strange := found.keys() - {bound.name for bound in known}:
            raise SettingsError(f"bounds: there is none named {', '.join(sorted(strange))}")
        return found

    def limit(self, bound: Bound) -> int:
        """How many are allowed here."""
        return self.get(bound.name, bound.limit)


class Holder(Protocol):
    """A transaction, as far as bounds need it."""

    bounds: Bounds

    async def execute(self, sql: str, *arguments: object) -> str:
        """Run a statement."""
        ...

    async def fetchval(self, sql: str, *arguments: object) -> object:
        """The first value of a statement."""
        ...


def parse_bounds(text: str) -> Mapping[str, int]:
    """Names with their numbers; a SettingsError if it is anything else."""
    pairs = [part.split("=") for part in text.split(",") if part.strip()]
    try:
        found = {name.strip(): int(number) for name, number in pairs}
    except ValueError as error:
        raise SettingsError(f"{text!r} does not say bounds: write drafts=2000, groups=10000") from error
    if any(number < 1 for number in found.values()):
        raise SettingsError(f"{text!r}: a bound is at least 1")
    return found


async def check_room(tx: Holder, bound: Bound, owner: int, adding: int = 1) -> None:
    """Refuse more than the bound; nobody else adds to what this owner has before the commit."""
    await hold_count(tx, bound, owner)
    await check_count(tx, bound, owner, adding)


async def hold_count(tx: Holder, bound: Bound, owner: int) -> None:
    """Nobody else adds to what this owner has before the commit. Taken after other locks, right before the rows are written."""
    await tx.execute("select pg_advisory_xact_lock(hashtextextended($1, $2))", f"bound {bound.name}", owner)


async def hold_counts(tx: Holder, bound: Bound, owners: Iterable[int]) -> None:
    """As `hold_count`, of several, in one statement."""
    sql = "select pg_advisory_xact_lock(hashtextextended($1, owner)) from unnest($2::bigint[]) as owner"
    await tx.execute(sql, f"bound {bound.name}", sorted(owners))


async def check_count(tx: Holder, bound: Bound, owner: int, adding: int = 1) -> None:
    """As `check_room`, for whoever holds the owner already against all others that add. `adding=0`: what was added is counted."""
    limit = tx.bounds.limit(bound)
    sql = f"select count(*) from (select from {bound.counted} limit $2) as counted"
    count = await tx.fetchval(sql, owner, limit + 1)
    assert isinstance(count, int)
    if count + adding > limit:
        raise full(bound, limit)


async def check_bytes(tx: Holder, bound: Bound, owner: int) -> None:
    """Refuse what was just written if it is too much, for whoever holds the count of these rows."""
    limit = tx.bounds.limit(bound)
    size = await tx.fetchval(f"select coalesce(sum({bound.weight}), 0)::bigint from {bound.counted}", owner)
    assert isinstance(size, int)
    if size > limit:
        raise full(bound, limit)


async def check_share(tx: Holder, bound: Bound, account_id: int, adding: int = 0) -> None:
    """Refuse more than a person's share of what the organization may have, for whoever holds the organization's count.

    What somebody's bots make takes the share of that person (`share_of`, set by the database). Administrators have no share:
    they can use up what the organization may have, and can make room.
    """
    person = await tx.fetchval(
        "select coalesce(bot_owner_id, id) from account where id = $1 and role > $2", account_id, Role.ADMINISTRATOR
    )
    if isinstance(person, int):
        await check_count(tx, bound, person, adding)


async def find_sharer(tx: Holder, table: str, row_id: int, account_id: int) -> int | None:
    """Whose share a row takes that this account makes or changes, and nobody else adds to before the commit.

    None: nobody's, because it was made by an administrator, or one changes it.
    """
    sql = f"select share_of from {table} where id = $1 and exists (select from account where id = $2 and role > $3)"
    person = await tx.fetchval(sql, row_id, account_id, Role.ADMINISTRATOR)
    if not isinstance(person, int):
        return None
    await tx.execute("select pg_advisory_xact_lock(hashtextextended($1, $2))", f"share of {table}", person)
    return person


def full(bound: Bound, limit: int) -> Refusal:
    """The refusal of one more."""
    return Refusal(bound.refusal.format(limit=limit), code=bound.code)
