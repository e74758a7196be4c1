"""Deleting pictures that no message shows any more: the messages were deleted, or too old."""

from collections import Counter

from tertulia.files.remote_pictures import queries
from tertulia.files.remote_pictures.fetching import drop_objects
from tertulia.kernel.db import Database

PORTION = 200
CHECK_HOURS = 24


async def forget_unshown(database: Database) -> int:
    """Look at the pictures that are due; returns how many were deleted."""
    total = 0
    while True:
        async with database.transaction() as tx:
            # Held first, looked at then: whoever comes to show one meanwhile waits, and finds it gone.
            held = await queries.lock_to_check(tx, PORTION)
            removed = await queries.delete_unused(tx, held, CHECK_HOURS) if held else []
            await drop_objects(tx, removed)
            freed: Counter[int] = Counter()
            for one in removed:
                freed[one.realm_id] += one.size
            for realm_id, size in sorted(freed.items()):
                await queries.take_space(tx, realm_id, -size)
        total += len(removed)
        if len(held) < PORTION:
            return total
