"""Idempotency keys: a repeat within a day is answered with the first answer; after that the key is forgotten."""

from tertulia.kernel.chores import in_batches
from tertulia.kernel.db import Database, Transaction

BATCH = 5000


async def forget_old_keys(database: Database) -> int:
    """Delete keys older than a day, in batches that hold no lock for long; returns how many."""
    sql = """
    delete from sent_request where (sender_id, key) in (
        select sender_id, key from sent_request where sent_at < now() - interval '24 hours' limit $1
        for update skip locked
    )
    """

    async def delete(tx: Transaction) -> int:
        return int((await tx.execute(sql, BATCH)).split()[-1])

    return await in_batches(database, BATCH, delete)
