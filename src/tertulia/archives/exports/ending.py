"""Archives end with the consent to be in them; whoever else ends some has it told here.

Nobody keeps an owner from an export by withdrawing: the server makes it anew, without them, from those who had agreed when it
was asked for. So each of them makes it begin anew once at most, however often they agree and withdraw.
"""

from tertulia.archives.exports import queries
from tertulia.archives.exports.actions import forget_archive
from tertulia.archives.exports.bounds import OF_REALM
from tertulia.archives.exports.events import tell_exports
from tertulia.kernel.bounds import hold_count
from tertulia.kernel.db import Transaction
from tertulia.people.users.archives import StoredArchives

PAUSE_SECONDS = 30.0
"""Others who withdraw as well by then cost nothing more, and other organizations have their turn."""


class StoredExports(StoredArchives):
    """Those that are being made, or are in the store."""

    async def leave_out(self, tx: Transaction, realm_id: int, user_id: int) -> None:
        """What they are in goes; the latest of it is made anew, if nothing else is being made."""
        jobs = [job for job in await queries.lock_consented(tx, realm_id, user_id) if job.attempts]
        if not jobs:
            return
        await hold_count(tx, OF_REALM, realm_id)  # nobody asks for one meanwhile
        anew = await queries.find_under_way(tx, realm_id) or jobs[-1].id
        for job in jobs:
            if job.is_there:
                await forget_archive(tx, job)
            if job.id == anew:
                await queries.begin_anew(tx, job.id, PAUSE_SECONDS)
        await self.tell(tx, realm_id)

    async def tell(self, tx: Transaction, realm_id: int) -> None:
        """Administrators hear how the exports of their organization are now."""
        await tell_exports(tx, realm_id)
