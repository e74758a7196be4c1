"""`realm_export`: administrators hear how far the exports of their organization are."""

from tertulia.archives.exports import queries
from tertulia.archives.exports.model import Job, record_of
from tertulia.events.log.record import Audience, record
from tertulia.kernel.db import Transaction
from tertulia.people.users.queries import administrators


async def tell_changed(tx: Transaction, job: Job) -> None:
    """Something about an export has changed. Of people's own exports nobody else hears."""
    if job.scope != "mine":
        await tell_exports(tx, job.realm_id)


async def tell_exports(tx: Transaction, realm_id: int) -> None:
    """How all exports of an organization are."""
    exports = [record_of(one) for one in await queries.exports_of_realm(tx, realm_id)]
    to = Audience(users=tuple(sorted(await administrators(tx, realm_id))))
    tx.emit(realm_id, record(to, "realm_export", {"exports": exports}))
