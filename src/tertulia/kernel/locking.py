"""Locks of several things that others need all the time."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import asyncpg

from tertulia.kernel.db import Transaction

PATIENCE: Final = "'100ms'"
PAUSES: Final = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.5, 0.5, 0.5, 0.5)


async def lock_all(
    tx: Transaction, sql: str, *arguments: object, first: Callable[[], Awaitable[object]] | None = None
) -> list[asyncpg.Record]:
    """All rows of a statement that locks them, without waiting for one while others are held.

    Whoever held a hundred conversations and waited for one that is busy for seconds would stop the senders of all of them. So
    it waits for each a moment only, lets go of all, and begins again; at last somebody else is told to try again.
    What the transaction had locked before stays locked: call it before anything else.
    `first`: takes weaker locks that are waited for as usual, in a queue; they are let go of with the others.
    """
    for pause in (*PAUSES, None):
        await tx.execute(f"savepoint before_locks; set local lock_timeout to {'default' if first else PATIENCE}")
        if first is not None:
            await first()
            await tx.execute(f"set local lock_timeout to {PATIENCE}")
        tx.holds_others_back()
        try:
            rows = await tx.fetch(sql, *arguments)
        except asyncpg.LockNotAvailableError:
            if pause is None:
                raise
            await tx.execute("rollback to savepoint before_locks")
            await asyncio.sleep(pause)
        else:
            await tx.execute("set local lock_timeout to default; release savepoint before_locks")
            return rows
    raise AssertionError("the last try returns or raises")
