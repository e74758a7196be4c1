"""Counting failed logins: in PostgreSQL, under a lock per user name, before the password is looked at.

Failures are counted for a name and the place they come from (an IPv4 address, a /64 of IPv6), so that whoever guesses
shuts out nobody elsewhere. A second, slow limit counts those of all places together, against guessing from many; it does not
concern places that somebody has logged in from: networks, and browsers, which have a cookie and a count of their own. Names
that nobody has are counted alike.

An attempt is written down as open, then the password is checked without any connection held, then the outcome is
written. Open attempts count as failures, so that parallel ones get no free tries; but whoever comes while some are open
waits for their outcome, because a right password clears the count. In each process only so many at once try one name: more
of them would only fill the room in which others wait for a password check. Who comes from a known place shares it with nobody.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import msgspec

from tertulia.kernel.chores import in_batches
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.limits import Rate, parse_rates, too_often
from tertulia.kernel.settings import Settings
from tertulia.organization.audit_log import Act, Word, note, user
from tertulia.people.logins import queries

BATCH = 5000
KEEP_SECONDS = 86400
"""Longer than any sensible setting counts."""
PATIENCE_SECONDS = 10.0
LOOK_SECONDS = 0.05
MAX_TOGETHER = 10
"""Attempts on one name that are under way in this process."""


class Target(msgspec.Struct, frozen=True):
    """What an attempt is made on, and from where."""

    realm_id: int
    username_key: str
    place: str
    is_known: bool
    """Somebody has logged in from there: then what others do elsewhere does not count."""
    user_id: int | None = None
    """Whose account is meant; None: there is none of that name."""
    failure: Act = Act.LOGIN_FAILED


class Attempt:
    """One attempt under way. It has failed unless it is said to be right."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.is_right = False
        self.is_open = False
        """Right so far, and something is missing: neither a failure nor a success."""


class Attempts:
    """Decides who may try a password."""

    def __init__(self, database: Database, here: Rate, everywhere: Rate) -> None:
        self._database = database
        self._here = here
        self._everywhere = everywhere
        self._together: Counter[tuple[int, str, str]] = Counter()

    @asynccontextmanager
    async def attempt(self, target: Target) -> AsyncIterator[Attempt]:
        """Count an attempt; refuses if there were too many. Set `is_right` inside to clear the count of the place.

        A Refusal that is raised inside is the outcome "wrong"; any other exception means that nothing was learned.
        """
        with self._one_more(target):
            attempt = Attempt(await self._begin(target))
            try:
                yield attempt
            except Refusal as refusal:
                await asyncio.shield(self._end(target, attempt, counts=refusal.status < 500 and not attempt.is_open))
                raise
            except Exception:
                await asyncio.shield(self._end(target, attempt, counts=False))
                raise
            await asyncio.shield(self._end(target, attempt, counts=True))

    @contextmanager
    def _one_more(self, target: Target) -> Iterator[None]:
        key = (target.realm_id, target.username_key, target.place if target.is_known else "")
        if self._together[key] >= MAX_TOGETHER:
            raise too_often(1.0)
        self._together[key] += 1
        try:
            yield
        finally:
            self._together[key] -= 1
            if not self._together[key]:
                del self._together[key]

    async def _begin(self, target: Target) -> int:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            async with self._database.transaction() as tx:
                found = await self._try(tx, target)
            if isinstance(found, int):
                return found
            if not found.pending or time.monotonic() > deadline:
                raise too_often(max(found.seconds or 1.0, 0.001))
            await asyncio.sleep(LOOK_SECONDS)

    async def _try(self, tx: Transaction, target: Target) -> int | queries.Failures:
        realm_id, key = target.realm_id, target.username_key
        await queries.lock_name(tx, realm_id, key)
        for place, limit in ((target.place, self._here), (None, self._everywhere)):
            if place is None and target.is_known:
                continue
            failures = await queries.count_failures(tx, realm_id, key, place, limit)
            if failures.count >= limit.calls:
                return failures
        return await queries.insert_failure(tx, realm_id, key, target.place)

    async def _end(self, target: Target, attempt: Attempt, *, counts: bool) -> None:
        async with self._database.transaction() as tx:
            if attempt.is_right:
                await queries.clear_failures(tx, target.realm_id, target.username_key, target.place)
            elif counts:
                await queries.settle_failure(tx, attempt.number)
                note_failure(tx, target)
            else:
                await queries.forget_failure(tx, attempt.number)


def note_failure(tx: Transaction, target: Target, reason: str = "wrong") -> None:
    """Put a failure into the log. Not the name that was typed: where nobody has it, it may be a password."""
    whose = None if target.user_id is None else user(target.user_id)
    note(tx, target.realm_id, target.failure, whose, reason=(None, Word(reason)))


def attempts_of(database: Database, settings: Settings) -> Attempts:
    """The attempts that the operator allows."""
    [here], [everywhere] = parse_rates(settings.login_failures), parse_rates(settings.login_failures_everywhere)
    return Attempts(database, here, everywhere)


async def forget_old_failures(database: Database) -> int:
    """Delete failures that no longer count, in batches that hold no lock for long; returns how many."""
    return await in_batches(database, BATCH, lambda tx: queries.delete_old_failures(tx, KEEP_SECONDS, BATCH))
