"""Making custom emoji, and taking them out of use."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tertulia.content.pictures.fitting import Picture
from tertulia.content.pictures.keeping import adopt, offered
from tertulia.content.storage import Store
from tertulia.events.log.record import Audience, record
from tertulia.kernel.auth import Caller, Role
from tertulia.kernel.bounds import check_count, check_share, hold_count
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.organization.audit_log import Act, note
from tertulia.organization.custom_emoji import queries
from tertulia.organization.custom_emoji.bounds import CUSTOM_EMOJI, OWN_CUSTOM_EMOJI
from tertulia.organization.custom_emoji.model import EmojiRecord, KeptPicture, still_name
from tertulia.organization.custom_emoji.rules import is_taken_by_default
from tertulia.organization.groups.rights import check_holds

ONE_BY_ONE = "individual_emoji_changes"
"""The capability of clients that are told of single emoji instead of the whole list."""


@asynccontextmanager
async def kept(database: Database, store: Store, realm_id: int, picture: Picture) -> AsyncIterator[KeptPicture]:
    """A picture in the store, for `add` inside."""
    stored = KeptPicture(f"{secrets.token_hex(8)}.{picture.extension}", moves=picture.still is not None)
    content = {key_of(realm_id, stored.file_name): picture.data}
    if picture.still is not None:
        content[key_of(realm_id, still_name(stored.file_name))] = picture.still
    async with offered(database, store, content):
        yield stored


async def add(tx: Transaction, caller: Caller, name: str, picture: KeptPicture) -> None:
    """One more emoji."""
    await check_holds(tx, caller, "can_add_custom_emoji_group")
    if is_taken_by_default(name) and caller.role > Role.ADMINISTRATOR:
        raise Refusal("Only administrators can give an emoji the name of one that everybody has.")
    await hold_count(tx, CUSTOM_EMOJI, caller.realm_id)
    await check_share(tx, OWN_CUSTOM_EMOJI, caller.user_id, adding=1)
    await check_count(tx, CUSTOM_EMOJI, caller.realm_id)
    emoji_id = await queries.insert_emoji(tx, caller.realm_id, caller.user_id, name, picture)
    if emoji_id is None:
        raise Refusal("There is a custom emoji of this name already.")
    stills = [still_name(picture.file_name)] if picture.moves else []
    await adopt(tx, [key_of(caller.realm_id, file) for file in (picture.file_name, *stills)])
    emoji = await queries.all_emoji(tx, caller.realm_id)
    _tell(tx, caller, emoji, {"op": "add", "emoji": emoji[str(emoji_id)]})
    note(tx, caller.realm_id, Act.EMOJI_ADDED, ("emoji", emoji_id), name=(None, name))


async def deactivate(tx: Transaction, caller: Caller, name: str) -> None:
    """Take an emoji out of use. What was written with it stays."""
    found = await queries.lock_active(tx, caller.realm_id, name)
    if found is None:
        raise Refusal(f"There is no custom emoji named '{name}'.")
    emoji_id, author_id = found
    if author_id != caller.user_id and caller.role > Role.ADMINISTRATOR:
        raise Refusal("Only administrators and whoever made the emoji can take it out of use.")
    await queries.deactivate_emoji(tx, caller.realm_id, emoji_id)
    emoji = await queries.all_emoji(tx, caller.realm_id)
    _tell(tx, caller, emoji, {"op": "update_one", "emoji_id": str(emoji_id), "data": {"deactivated": True}})
    note(tx, caller.realm_id, Act.EMOJI_DEACTIVATED, ("emoji", emoji_id), name=(name, None))


def _tell(tx: Transaction, caller: Caller, emoji: dict[str, EmojiRecord], one: dict[str, object]) -> None:
    tx.emit(caller.realm_id, record(Audience(realm=True, needs=ONE_BY_ONE), "realm_emoji", one))
    whole = {"op": "update", "realm_emoji": emoji}
    tx.emit(caller.realm_id, record(Audience(realm=True, lacks=ONE_BY_ONE), "realm_emoji", whole))


def key_of(realm_id: int, file_name: str) -> str:
    """The object of a picture."""
    return f"pictures/{realm_id}/emoji/{file_name}"
