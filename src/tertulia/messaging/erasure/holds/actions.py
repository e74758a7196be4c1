"""Adding and removing holds, and what was kept meanwhile."""

from tertulia.content.storage import orphans
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.messaging.erasure.holds import queries
from tertulia.organization.audit_log import Act, note, realm, user
from tertulia.people.users.actions import get_both
from tertulia.people.users.erased import is_erased
from tertulia.people.users.model import Account
from tertulia.people.users.queries import lock_accounts
from tertulia.people.users.rules import check_is_owner, no_such_user


async def add_hold(tx: Transaction, realm_id: int, user_id: int | None, reason: str, made_by: int | None = None) -> int:
    """Hold a person or, without one, the whole organization; returns the number of the hold.

    Whoever makes it is an owner at this moment, or the operator (None).
    """
    if made_by is not None:
        held = await _check_owner(tx, realm_id, made_by, *([] if user_id is None else [user_id]))
        if user_id is not None and (user_id not in held or held[user_id].is_bot):
            raise no_such_user()
    # The row that is written holds the account weakly; whoever erases it at this moment is waited for, and seen then.
    hold_id = await queries.insert_hold(tx, realm_id, user_id, reason, made_by)
    if hold_id is None:
        raise Refusal("This is held already.")
    if user_id is not None and await is_erased(tx, user_id):
        raise Refusal("This person was erased: there is nothing left to hold.")
    target = realm(realm_id) if user_id is None else user(user_id)
    note(tx, realm_id, Act.HOLD_ADDED, target, hold=(None, hold_id))
    return hold_id


async def remove_hold(tx: Transaction, realm_id: int, hold_id: int, ended_by: int | None = None) -> int:
    """End a hold, as an owner or the operator; copies that nothing else holds go with it. Returns how many."""
    if ended_by is not None:
        await _check_owner(tx, realm_id, ended_by)
    gone = await queries.delete_hold(tx, realm_id, hold_id)
    if gone is None:
        raise Refusal("There is no such hold.")
    if ended_by is not None and gone.made_by is None:
        raise Refusal("The operator of the server has placed this hold, and only they end it.")
    if ended_by is not None and gone.user_id == ended_by:
        raise Refusal("Nobody ends a legal hold on themselves. Ask another owner.")
    copies = await queries.delete_copies(tx, realm_id)
    await orphans.drop(tx, [key for key in copies if key is not None])
    target = realm(realm_id) if gone.user_id is None else user(gone.user_id)
    note(tx, realm_id, Act.HOLD_REMOVED, target, hold=(hold_id, None), copies=(len(copies), 0))
    return len(copies)


async def _check_owner(tx: Transaction, realm_id: int, user_id: int, *others: int) -> dict[int, Account]:
    """Refuse whoever is not an owner until the commit; returns who is held."""
    held = await lock_accounts(tx, realm_id, [user_id, *others])
    check_is_owner(get_both(held, user_id, user_id)[0])
    return held


def note_exported(tx: Transaction, realm_id: int, copies: int) -> None:
    """Somebody took the copies out."""
    note(tx, realm_id, Act.HOLD_EXPORTED, realm(realm_id), copies=(None, copies))
