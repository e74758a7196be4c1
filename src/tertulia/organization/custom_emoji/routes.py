"""Endpoints of custom emoji."""

import functools

import msgspec

from tertulia.content.pictures.apart import fit
from tertulia.content.pictures.receiving import BODY_LIMIT, receive
from tertulia.content.storage import Store
from tertulia.kernel.auth import HumanMember, Person
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.endpoint import Call, delete, get, post
from tertulia.organization.custom_emoji import actions, queries
from tertulia.organization.custom_emoji.model import EmojiRecord
from tertulia.organization.custom_emoji.rules import clean_name
from tertulia.organization.groups.rights import check_holds

SIDE = 64


class AllEmoji(msgspec.Struct):
    """The answer of GET /realm/emoji."""

    emoji: dict[str, EmojiRecord]


@get("/realm/emoji")
async def get_emoji(caller: Person, reader: Reader) -> AllEmoji:
    """The organization's custom emoji by their IDs, deactivated ones too."""
    return AllEmoji(await queries.all_emoji(reader, caller.realm_id))


@post("/realm/emoji/{emoji_name}", body_limit=BODY_LIMIT, takes_files=True)
async def add_emoji(caller: HumanMember, call: Call, database: Database, store: Store, *, emoji_name: str) -> None:
    """Make a custom emoji of a picture: GIF, JPEG, PNG, WebP or AVIF, as the only file of a multipart request."""
    name = clean_name(emoji_name)
    async with database.reader() as reader:
        await check_holds(reader, caller, "can_add_custom_emoji_group")
    picture = await receive(call, store.scanner, functools.partial(fit, side=SIDE))
    async with actions.kept(database, store, caller.realm_id, picture) as stored, database.transaction() as tx:
        await actions.add(tx, caller, name, stored)


@delete("/realm/emoji/{emoji_name}")
async def deactivate_emoji(caller: HumanMember, tx: Transaction, *, emoji_name: str) -> None:
    """Deactivate a custom emoji. What was written with it stays."""
    await actions.deactivate(tx, caller, emoji_name)
