"""Adding and removing holds, and what was kept meanwhile."""

from tertulia.content.storage import orphans
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.messaging.erasure.holds import queries
from tertulia.organization.audit_log import Act, note, realm, user
from tertulia.people.users.erased import is_erased


async def add_hold(tx: Transaction, realm_id: int, user_id: int | None, reason: str, made_by: int | None = None) -> int:
    """Hold a person or, without one, the whole organization; returns the number of the hold."""
    # The row that is written holds the account weakly; whoever erases it at this moment is waited for, and seen then.
    hold_id = await queries.insert_hold(tx, realm_id, user_id, reason, made_by)
    if hold_id is None:
        raise Refusal("This is held already.")
    if user_id is not None and await is_erased(tx, user_id):
        raise Refusal("This person was erased: there is nothing left to hold.")
    target = realm(realm_id) if user_id is None else user(user_id)
    note(tx, realm_id, Act.HOLD_ADDED, target, hold=(None, hold_id))
    return hold_id


async def remove_hold(tx: Transaction, realm_id: int, hold_id: int) -> int:
    """End a hold; copies that nothing else holds go with it. Returns how many."""
    gone = await queries.delete_hold(tx, realm_id, hold_id)
    if gone is None:
        raise Refusal("There is no such hold.")
    copies = await queries.delete_copies(tx, realm_id)
    await orphans.drop(tx, [key for key in copies if key is not None])
    target = realm(realm_id) if gone.user_id is None else user(gone.user_id)
    note(tx, realm_id, Act.HOLD_REMOVED, target, hold=(hold_id, None), copies=(len(copies), 0))
    return len(copies)


def note_exported(tx: Transaction, realm_id: int, copies: int) -> None:
    """Somebody took the copies out."""
    note(tx, realm_id, Act.HOLD_EXPORTED, realm(realm_id), copies=(None, copies))
