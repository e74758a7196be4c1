"""Forgetting what pages said of themselves, a day after it was found out: a link that is named later is asked for anew."""

from tertulia.kernel.db import Database
from tertulia.messaging.link_previews import queries

PORTION = 500


async def forget_stale(database: Database) -> int:
    """Forget what is old; returns how many were."""
    async with database.transaction() as tx:
        total = await queries.delete_unfetched(tx)
    while True:
        async with database.transaction() as tx:
            # Held first, looked at then: whoever links one meanwhile waits, and finds it gone.
            held = await queries.lock_stale(tx, PORTION)
            gone = await queries.delete_unawaited(tx, held) if held else 0
        total += gone
        if gone < PORTION:
            return total
