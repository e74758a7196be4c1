"""Archives that nobody may fetch any more are deleted."""

from tertulia.archives.exports import queries
from tertulia.archives.exports.actions import forget_archive
from tertulia.archives.exports.events import tell_changed
from tertulia.kernel.chores import in_batches
from tertulia.kernel.db import Database, Transaction

PORTION = 20


async def forget_old_exports(database: Database) -> int:
    """Delete archives after their time, and long after that forget that they were; returns how many."""
    expired = await in_batches(database, PORTION, _forget_expired)
    async with database.transaction() as tx:
        return expired + await queries.delete_old(tx)


async def _forget_expired(tx: Transaction) -> int:
    jobs = await queries.lock_expired(tx, PORTION)
    for job in jobs:
        await forget_archive(tx, job)
        await tell_changed(tx, job)
    return len(jobs)
