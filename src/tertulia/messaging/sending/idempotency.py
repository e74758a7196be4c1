"""Idempotency keys: a repeat within a day is answered with the first answer; after that the key is forgotten."""

from tertulia.kernel.db import Database

BATCH = 5000


async def forget_old_keys(database: Database) -> int:
    """Delete keys older than a day, in batches that hold no lock for long; returns how many."""
    sql = """
    delete from sent_request where (sender_id, key) in (
        select sender_id, key from sent_request where sent_at < now() - interval '24 hours' limit $1
        for update skip locked
    )
    """
    total = 0
    while True:
        async with database.transaction() as tx:
            done = int((await tx.execute(sql, BATCH)).split()[-1])
        total += done
        if done < BATCH:
            return total
