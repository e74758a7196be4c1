"""Locks of several things that others need all the time."""

import asyncio
from typing import Final

import asyncpg

from tertulia.kernel.db import Transaction

PATIENCE: Final = "100ms"
PAUSES: Final = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.5, 0.5, 0.5, 0.5)


async def lock_all(tx: Transaction, sql: str, *arguments: object) -> list[asyncpg.Record]:
    """All rows of a statement that locks them, without waiting for one while others are held.

    Whoever held a hundred conversations and waited for one that is busy for seconds would stop the senders of all of them. So
    it waits for each a moment only, lets go of all, and begins again; at last somebody else is told to try again.
    What the transaction had locked before stays locked: call it before anything else.
    """
    tx.holds_others_back()
    for pause in PAUSES:
        await tx.execute(f"savepoint before_locks; set local lock_timeout = '{PATIENCE}'")
        try:
            rows = await tx.fetch(sql, *arguments)
        except asyncpg.LockNotAvailableError:
            await tx.execute("rollback to savepoint before_locks")
            await asyncio.sleep(pause)
        else:
            await tx.execute("set local lock_timeout to default; release savepoint before_locks")
            return rows
    return await tx.fetch(sql + " nowait", *arguments)
