"""The two ways out of the log: age, and the erasure of a person."""

from tertulia.kernel.chores import in_batches
from tertulia.kernel.db import Database, Transaction
from tertulia.organization.audit_log import queries
from tertulia.organization.audit_log.acts import Act
from tertulia.organization.audit_log.noting import note, user

BATCH = 5000


async def forget_old_entries(database: Database) -> int:
    """Delete what is older than its organization keeps entries, in batches that hold no lock for long; returns how many."""
    return await in_batches(database, BATCH, lambda tx: queries.forget_old(tx, BATCH))


async def erase_person(tx: Transaction, realm_id: int, user_id: int) -> int:
    """Take what names a person out of the log: network addresses, browsers, names and addresses of before and after.

    The entries stay, with ids. That the person was erased is an entry itself, without which the database refuses it.
    """
    note(tx, realm_id, Act.USER_ERASED, user(user_id))
    await tx.flush()
    return await queries.erase(tx, realm_id, user_id)
