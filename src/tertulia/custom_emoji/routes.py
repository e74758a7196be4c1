"""Endpoints of custom emoji."""

import functools

import msgspec

from tertulia.custom_emoji import actions, queries
from tertulia.custom_emoji.model import EmojiRecord
from tertulia.custom_emoji.rules import clean_name
from tertulia.groups.rights import check_holds
from tertulia.kernel.auth import HumanMember, Person
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.endpoint import Call, delete, get, post
from tertulia.pictures import BODY_LIMIT, fit, receive
from tertulia.storage import Store

SIDE = 64


class AllEmoji(msgspec.Struct):
    """The answer of GET /realm/emoji."""

    emoji: dict[str, EmojiRecord]


@get("/realm/emoji")
async def get_emoji(caller: Person, reader: Reader) -> AllEmoji:
    """The organization's custom emoji by their IDs, those out of use too."""
    return AllEmoji(await queries.all_emoji(reader, caller.realm_id))


@post("/realm/emoji/{emoji_name}", body_limit=BODY_LIMIT)
async def add_emoji(caller: HumanMember, call: Call, database: Database, store: Store, *, emoji_name: str) -> None:
    """Make a custom emoji of a picture: GIF, JPEG, PNG, WebP or AVIF, as the only file of a multipart request."""
    name = clean_name(emoji_name)
    async with database.reader() as reader:
        await check_holds(reader, caller, "can_add_custom_emoji_group")
    picture = await receive(call, functools.partial(fit, side=SIDE))
    async with actions.kept(database, store, caller.realm_id, picture) as stored, database.transaction() as tx:
        await actions.add(tx, caller, name, stored)


@delete("/realm/emoji/{emoji_name}")
async def deactivate_emoji(caller: HumanMember, tx: Transaction, *, emoji_name: str) -> None:
    """Take a custom emoji out of use. What was written with it stays."""
    await actions.deactivate(tx, caller, emoji_name)
