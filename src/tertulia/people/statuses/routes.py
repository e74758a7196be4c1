"""Endpoints of statuses."""

from typing import Any

from tertulia.kernel.auth import Administrator, Human, Person
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.endpoint import Call, get, post
from tertulia.people.statuses import queries
from tertulia.people.statuses.actions import Sent, set_of_other, set_own, wish_of
from tertulia.people.statuses.model import shown
from tertulia.people.users.access import get_user_text


@post("/users/me/status")
async def set_own_status(
    caller: Human,
    tx: Transaction,
    *,
    status_text: str | None = None,
    emoji_name: str | None = None,
    emoji_code: str | None = None,
    reaction_type: str | None = None,
    away: bool | None = None,
) -> None:
    """Set your status. Only what you pass changes; an empty text or emoji name removes it."""
    sent = Sent(status_text, emoji_name, emoji_code, reaction_type, away)
    await set_own(tx, caller, await wish_of(tx, caller.realm_id, sent))


@post("/users/{user_id}/status")
async def set_status(
    caller: Administrator,
    tx: Transaction,
    *,
    user_id: int,
    status_text: str | None = None,
    emoji_name: str | None = None,
    emoji_code: str | None = None,
    reaction_type: str | None = None,
) -> None:
    """Change the status of somebody, as an administrator."""
    sent = Sent(status_text, emoji_name, emoji_code, reaction_type)
    await set_of_other(tx, caller, user_id, await wish_of(tx, caller.realm_id, sent))


@get("/users/{user_id}/status")
async def get_status(caller: Person, call: Call, reader: Reader, *, user_id: int) -> dict[str, Any]:
    """The status of a user."""
    await get_user_text(reader, caller, user_id, profile=False)
    return {"status": shown(await queries.get_status(reader, user_id), call.client)}
