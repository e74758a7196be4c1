"""Muting people and hearing from them again."""

from tertulia.conversations.mutes import queries
from tertulia.conversations.mutes.bounds import MUTED_USERS
from tertulia.conversations.read_state.marking.actions import hold_everything, mark_sender_read
from tertulia.events.log.record import Audience, record
from tertulia.kernel.auth import Caller
from tertulia.kernel.bounds import check_count
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.people.users.access import check_seen
from tertulia.people.users.queries import hold_active_account
from tertulia.people.users.rules import no_such_user


async def mute(tx: Transaction, caller: Caller, user_id: int) -> None:
    """Mute somebody whom the caller sees; bots and deactivated users too."""
    if user_id == caller.user_id:
        raise Refusal("Cannot mute self")
    await _hold(tx, caller, user_id)
    await check_seen(tx, caller, user_id)
    if not await queries.insert_mute(tx, caller.user_id, user_id):
        raise Refusal("User already muted")
    await check_count(tx, MUTED_USERS, caller.user_id, adding=0)
    await mark_sender_read(tx, caller, user_id, is_muted=False)
    await _tell(tx, caller)


async def unmute(tx: Transaction, caller: Caller, user_id: int) -> None:
    """Hear from somebody again."""
    await _hold(tx, caller, user_id)
    if not await queries.delete_mute(tx, caller.user_id, user_id):
        await check_seen(tx, caller, user_id)  # only now: whoever is muted is known to the caller
        raise Refusal("User is not muted")
    await mark_sender_read(tx, caller, user_id, is_muted=True)
    await _tell(tx, caller)


async def _hold(tx: Transaction, caller: Caller, user_id: int) -> None:
    if not await queries.is_user(tx, caller.realm_id, user_id):
        raise no_such_user()
    # A message comes before the change, and is among those marked read, or after it, and its event says that it is read.
    await hold_everything(tx, caller.user_id, user_id)
    if not await hold_active_account(tx, caller.user_id):
        raise Refusal("Insufficient permission")


async def _tell(tx: Transaction, caller: Caller) -> None:
    event = {"muted_users": await queries.muted_by(tx, caller.user_id)}
    tx.emit(caller.realm_id, record(Audience(users=(caller.user_id,)), "muted_users", event))
