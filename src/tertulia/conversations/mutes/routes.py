"""Endpoints of the mutes feature."""

from tertulia.conversations.mutes import actions
from tertulia.kernel.auth import Person
from tertulia.kernel.db import Transaction
from tertulia.kernel.endpoint import delete, post


@post("/users/me/muted_users/{muted_user_id}")
async def mute_user(caller: Person, tx: Transaction, *, muted_user_id: int) -> None:
    """Mute somebody: your clients hide what they write."""
    await actions.mute(tx, caller, muted_user_id)


@delete("/users/me/muted_users/{muted_user_id}")
async def unmute_user(caller: Person, tx: Transaction, *, muted_user_id: int) -> None:
    """Unmute somebody."""
    await actions.unmute(tx, caller, muted_user_id)
