"""`realm_export`: administrators hear how far the exports of their organization are."""

from tertulia.archives.exports import queries
from tertulia.archives.exports.model import Job, record_of
from tertulia.events.log.record import Audience, record
from tertulia.kernel.db import Transaction
from tertulia.people.users.queries import administrators


async def tell_changed(tx: Transaction, job: Job) -> None:
    """Something about an export has changed. Of people's own exports nobody else hears."""
    if job.scope == "mine":
        return
    exports = [record_of(one) for one in await queries.exports_of_realm(tx, job.realm_id)]
    to = Audience(users=tuple(sorted(await administrators(tx, job.realm_id))))
    tx.emit(job.realm_id, record(to, "realm_export", {"exports": exports}))
