"""Endpoints of presence."""

import time
from typing import Annotated, Any, Literal

import msgspec

from tertulia.kernel.auth import Caller, Human, Person
from tertulia.kernel.db import Database, Reader
from tertulia.kernel.endpoint import get, post
from tertulia.kernel.errors import Refusal
from tertulia.organization.realms.settings import settings_of
from tertulia.people.presence import queries
from tertulia.people.presence.actions import Pings
from tertulia.people.presence.book import Book
from tertulia.people.presence.model import NEVER, legacy, nobody_is_shown, of_one
from tertulia.people.users.access import get_user_id, get_user_text, is_limited
from tertulia.people.users.model import view_of

HISTORY_DAYS = 14
Days = Annotated[int, msgspec.Meta(ge=0, le=3650)]


@post("/users/me/presence")
async def ping(
    caller: Human,
    database: Database,
    pings: Pings,
    book: Book,
    *,
    status: Literal["active", "idle"],
    last_update_id: int | None = None,
    history_limit_days: Days = HISTORY_DAYS,
    new_user_input: bool = False,  # noqa: ARG001 (for statistics that this server does not keep)
    ping_only: bool = False,
    slim_presence: bool = False,
) -> dict[str, Any]:
    """Report your presence, and get that of others.

    With `last_update_id`, the number from the last answer (-1 at first), you get only what changed since then.
    """
    # No connection is held meanwhile: pings wait for each other.
    await pings.ping(caller, is_active=status == "active")
    if ping_only:
        return {}
    if settings_of(caller).presence_disabled:
        # The number stays: whoever asks on from it when presence is shown again misses nobody.
        return nobody_is_shown(NEVER if last_update_id is None else last_update_id)
    visible = None
    if caller.is_guest or (last_update_id is None and not slim_presence):
        async with database.reader() as reader:
            if last_update_id is None and not slim_presence:
                return await in_old_form(reader, caller, history_limit_days)
            visible = await visible_to(reader, caller)
    known = NEVER if last_update_id is None else last_update_id
    presences, newest = await book.presences(caller.realm_id, known, history_limit_days, visible)
    return {
        "presences": msgspec.Raw(presences),
        "server_timestamp": time.time(),
        "presence_last_update_id": newest,
    }


@get("/realm/presence")
async def get_presences(caller: Person, reader: Reader) -> dict[str, Any]:
    """The presence of everybody, in the older form: by email address."""
    return await in_old_form(reader, caller, HISTORY_DAYS)


@get("/users/{user_id}/presence")
async def get_presence(caller: Person, reader: Reader, *, user_id: int) -> dict[str, Any]:
    """The presence of a user: when they were last there."""
    return await presence_of(reader, caller, user_id)


@get("/users/{email}/presence")
async def get_presence_by_email(caller: Person, reader: Reader, *, email: str) -> dict[str, Any]:
    """The presence of a user, by email address."""
    return await presence_of(reader, caller, await get_user_id(reader, caller, email))


async def visible_to(reader: Reader, caller: Caller) -> set[int] | None:
    """Whose presence the caller sees; None: everybody's."""
    return await queries.visible_users(reader, view_of(caller)) if await is_limited(reader, caller) else None


async def in_old_form(reader: Reader, caller: Caller, days: int) -> dict[str, Any]:
    """All presences the caller sees, by address."""
    if settings_of(caller).presence_disabled:
        return nobody_is_shown(NEVER)
    visible = await visible_to(reader, caller)
    newest = await queries.last_id(reader, caller.realm_id)
    found = await queries.with_addresses(reader, caller.realm_id, caller.fake_domain, days)
    return {
        "presences": {email: legacy(one) for email, one in found if visible is None or one.user_id in visible},
        "server_timestamp": time.time(),
        "presence_last_update_id": newest,
    }


async def presence_of(reader: Reader, caller: Caller, user_id: int) -> dict[str, Any]:
    """One person's presence; refuses whom the caller does not see."""
    await get_user_text(reader, caller, user_id, profile=False)
    if await queries.is_bot(reader, user_id):
        raise Refusal("Bots have no presence.")
    presence = await queries.find_presence(reader, user_id)
    if presence is None or settings_of(caller).presence_disabled:
        raise Refusal(f"Nothing is known about the presence of the user {user_id}.")
    return {"presence": of_one(presence, time.time())}
