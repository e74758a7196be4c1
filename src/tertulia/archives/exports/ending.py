"""Archives end with the consent to be in them; whoever else ends some has it told here."""

from tertulia.archives.exports import queries
from tertulia.archives.exports.actions import forget_archive
from tertulia.archives.exports.events import tell_exports
from tertulia.kernel.db import Transaction
from tertulia.people.users.archives import StoredArchives

WITHDRAWN = "Somebody withdrew their consent while it was being made. Ask for another one."


class StoredExports(StoredArchives):
    """Those that are being made, or are in the store."""

    async def end_consented(self, tx: Transaction, realm_id: int) -> None:
        """All with the private data of who agrees. Which people are in one is not stored: it was right for all of them, once."""
        jobs = await queries.lock_consented(tx, realm_id)
        for job in jobs:
            if job.is_there:
                await forget_archive(tx, job)
            elif job.attempts:  # one that nobody has begun will ask who agrees
                await queries.fail_job(tx, job.id, WITHDRAWN)
        if jobs:
            await self.tell(tx, realm_id)

    async def tell(self, tx: Transaction, realm_id: int) -> None:
        """Administrators hear how the exports of their organization are now."""
        await tell_exports(tx, realm_id)
