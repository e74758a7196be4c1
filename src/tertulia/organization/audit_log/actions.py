"""The two ways out of the log: age, and the erasure of a person."""

from tertulia.kernel.db import Database, Transaction
from tertulia.organization.audit_log import queries
from tertulia.organization.audit_log.acts import Act
from tertulia.organization.audit_log.noting import note, user

BATCH = 5000


async def forget_old_entries(database: Database) -> int:
    """Delete what is older than its organization keeps entries, in batches that hold no lock for long; returns how many."""
    total = 0
    while True:
        async with database.transaction() as tx:
            done = await queries.forget_old(tx, BATCH)
        total += done
        if done < BATCH:
            return total


async def erase_person(tx: Transaction, realm_id: int, user_id: int) -> int:
    """Take what names a person out of the log: network addresses, browsers, names and addresses of before and after.

    The entries stay, with ids. That the person was erased is an entry itself, without which the database refuses it.
    """
    note(tx, realm_id, Act.USER_ERASED, user(user_id))
    await tx.flush()
    return await queries.erase(tx, realm_id, user_id)
