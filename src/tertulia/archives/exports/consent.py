"""Archives with the private data of those who agreed end when one of them withdraws."""

from tertulia.archives.exports import queries
from tertulia.archives.exports.actions import forget_archive
from tertulia.archives.exports.events import tell_changed
from tertulia.kernel.db import Transaction
from tertulia.people.preferences.consent import ConsentedExports

WITHDRAWN = "Somebody withdrew their consent while it was being made. Ask for another one."


class StoredExports(ConsentedExports):
    """Those that are being made, or are in the store."""

    async def end(self, tx: Transaction, realm_id: int) -> None:
        """All of the organization. Which people an archive has in it is not stored: it was right for all of them, once."""
        jobs = await queries.lock_consented(tx, realm_id)
        for job in jobs:
            if job.is_there:
                await forget_archive(tx, job)
            elif job.attempts:  # one that nobody has begun will ask who agrees
                await queries.fail_job(tx, job.id, WITHDRAWN)
        if jobs:
            await tell_changed(tx, jobs[-1])
