"""Storing an avatar, and making it somebody's."""

import functools
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from tertulia.content.pictures.apart import cover
from tertulia.content.pictures.keeping import adopt, offered
from tertulia.content.pictures.receiving import receive
from tertulia.content.storage import Store, orphans
from tertulia.kernel.auth import Caller, Role
from tertulia.kernel.call import Call
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.organization.realms.settings import settings_of
from tertulia.people.avatars import queries
from tertulia.people.users.avatars import MEDIUM, SMALL
from tertulia.people.users.events import those_who_know, updated
from tertulia.people.users.model import avatar_url_medium


def check_may_change(caller: Caller) -> None:
    """Refuse where the organization has fixed its people's avatars."""
    if caller.role > Role.ADMINISTRATOR and settings_of(caller).avatar_changes_disabled:
        raise Refusal("Your organization has turned off changing avatars.")


@asynccontextmanager
async def avatar_of_request(call: Call, database: Database, store: Store, realm_id: int) -> AsyncIterator[str]:
    """The picture that comes with a request, stored; its name, for `set_avatar` inside."""
    small, medium = await receive(call, store.scanner, functools.partial(cover, sides=(SMALL, MEDIUM)))
    name = secrets.token_hex(20)
    async with offered(database, store, dict(zip(keys_of(realm_id, name), (small, medium), strict=True))):
        yield name


@asynccontextmanager
async def avatar_if_any(call: Call, database: Database, store: Store, realm_id: int) -> AsyncIterator[str | None]:
    """As `avatar_of_request`; None if no file comes with the request."""
    if not call.files:
        yield None
        return
    async with avatar_of_request(call, database, store, realm_id) as name:
        yield name


async def set_own_avatar(tx: Transaction, caller: Caller, name: str | None) -> str:
    """As `set_avatar`, for oneself, if the organization allows it at this moment."""
    role, realm = await queries.hold_rights(tx, caller.user_id)
    check_may_change(msgspec.structs.replace(caller, role=role, realm=realm))
    return await set_avatar(tx, caller.realm_id, caller.user_id, name)


async def set_avatar(tx: Transaction, realm_id: int, user_id: int, name: str | None) -> str:
    """Make a stored picture a user's avatar, or go back to the drawn one; returns its address. Tells everybody who knows them."""
    old = await queries.lock_avatar(tx, user_id)
    if old.name == name:
        return old.url
    return await replace_avatar(tx, realm_id, user_id, old.name, name)


async def replace_avatar(tx: Transaction, realm_id: int, user_id: int, old: str | None, name: str | None) -> str:
    """As `set_avatar`, of an account that is held, deactivated or not."""
    if name is not None:
        await adopt(tx, keys_of(realm_id, name))
    if old is not None:
        await orphans.drop(tx, keys_of(realm_id, old))
    new = await queries.change_avatar(tx, user_id, name)
    event = updated(
        await those_who_know(tx, realm_id, user_id),
        user_id,
        avatar_source=new.source,
        avatar_url=new.url,
        avatar_url_medium=avatar_url_medium(new.url),
        avatar_version=new.version,
    )
    tx.emit(realm_id, event)
    return new.url


def keys_of(realm_id: int, name: str) -> list[str]:
    """The objects of an avatar: small, medium."""
    return [key_of(realm_id, name, medium=False), key_of(realm_id, name, medium=True)]


def key_of(realm_id: int, name: str, *, medium: bool) -> str:
    """The object of an avatar in one of its sizes."""
    return f"pictures/{realm_id}/avatars/{name}{'-medium' if medium else ''}.png"
