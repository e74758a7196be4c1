"""Counting failed logins: in PostgreSQL, under a lock per user name, before the password is looked at.

An attempt is written down as open, then the password is checked without any connection held, then the outcome is
written. Open attempts count as failures, so that parallel ones get no free tries; but whoever comes while some are open
waits for their outcome, because a right password clears the count.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.limits import Rate, too_often
from tertulia.logins import queries

BATCH = 5000
KEEP_SECONDS = 86400
"""Longer than any sensible setting counts."""
PATIENCE_SECONDS = 10.0
LOOK_SECONDS = 0.05


class Attempt:
    """One attempt under way. It has failed unless it is said to be right."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.is_right = False


class Attempts:
    """Decides who may try a password."""

    def __init__(self, database: Database, limit: Rate) -> None:
        self._database = database
        self._limit = limit

    @asynccontextmanager
    async def attempt(self, realm_id: int, username_key: str) -> AsyncIterator[Attempt]:
        """Count an attempt on a name; refuses if there were too many. Set `is_right` inside to clear the count.

        A Refusal that is raised inside is the outcome "wrong"; any other exception means that nothing was learned.
        """
        attempt = Attempt(await self._begin(realm_id, username_key))
        try:
            yield attempt
        except Refusal as refusal:
            await asyncio.shield(self._end(realm_id, username_key, attempt, counts=refusal.status < 500))
            raise
        except Exception:
            await asyncio.shield(self._end(realm_id, username_key, attempt, counts=False))
            raise
        await asyncio.shield(self._end(realm_id, username_key, attempt, counts=True))

    async def _begin(self, realm_id: int, username_key: str) -> int:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            async with self._database.transaction() as tx:
                found = await self._try(tx, realm_id, username_key)
            if isinstance(found, int):
                return found
            if not found.pending or time.monotonic() > deadline:
                raise too_often(max(found.seconds or 1.0, 0.001))
            await asyncio.sleep(LOOK_SECONDS)

    async def _try(self, tx: Transaction, realm_id: int, username_key: str) -> int | queries.Failures:
        await queries.lock_name(tx, realm_id, username_key)
        failures = await queries.count_failures(tx, realm_id, username_key, self._limit.calls, self._limit.seconds)
        if failures.count >= self._limit.calls:
            return failures
        return await queries.insert_failure(tx, realm_id, username_key)

    async def _end(self, realm_id: int, username_key: str, attempt: Attempt, *, counts: bool) -> None:
        async with self._database.transaction() as tx:
            if attempt.is_right:
                await queries.clear_failures(tx, realm_id, username_key)
            elif counts:
                await queries.settle_failure(tx, attempt.number)
            else:
                await queries.forget_failure(tx, attempt.number)


async def forget_old_failures(database: Database) -> int:
    """Delete failures that no longer count, in batches that hold no lock for long; how many."""
    total = 0
    while True:
        async with database.transaction() as tx:
            done = await queries.delete_old_failures(tx, KEEP_SECONDS, BATCH)
        total += done
        if done < BATCH:
            return total
