"""Endpoints of custom emoji."""

import asyncio

import msgspec

from tertulia.custom_emoji import actions, queries
from tertulia.custom_emoji.model import EmojiRecord
from tertulia.custom_emoji.rules import clean_name
from tertulia.groups.rights import check_holds
from tertulia.kernel.auth import HumanMember, Person
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.endpoint import Call, delete, get, post
from tertulia.kernel.errors import Refusal
from tertulia.pictures import NotAPicture, fit

SIDE = 64
MAX_MIB = 5
_ONE_AT_A_TIME = asyncio.Semaphore(1)
"""Decoding pictures is the dearest thing a request can ask for: it takes at most one core."""


class AllEmoji(msgspec.Struct):
    """The answer of GET /realm/emoji."""

    emoji: dict[str, EmojiRecord]


@get("/realm/emoji")
async def get_emoji(caller: Person, reader: Reader) -> AllEmoji:
    """The organization's custom emoji by their IDs, those out of use too."""
    return AllEmoji(await queries.all_emoji(reader, caller.realm_id))


@post("/realm/emoji/{emoji_name}", body_limit=(MAX_MIB + 1) * 1024 * 1024)
async def add_emoji(caller: HumanMember, call: Call, database: Database, *, emoji_name: str) -> None:
    """Make a custom emoji of a picture: GIF, JPEG, PNG, WebP or AVIF, as the only file of a multipart request."""
    name = clean_name(emoji_name)
    if len(call.files) != 1:
        raise Refusal("An emoji is made of exactly one file.")
    [file] = call.files
    if file.size > MAX_MIB * 1024 * 1024:
        raise Refusal(f"The file is too large (limit: {MAX_MIB} MiB).")
    async with database.reader() as reader:
        await check_holds(reader, caller, "can_add_custom_emoji_group")
    try:
        async with _ONE_AT_A_TIME:
            picture = await asyncio.to_thread(fit, file.file.read(), SIDE)
    except NotAPicture:
        raise Refusal("The file is no picture that can be read.", code="BAD_IMAGE") from None
    async with database.transaction() as tx:
        await actions.add(tx, caller, name, picture)


@delete("/realm/emoji/{emoji_name}")
async def deactivate_emoji(caller: HumanMember, tx: Transaction, *, emoji_name: str) -> None:
    """Take a custom emoji out of use. What was written with it stays."""
    await actions.deactivate(tx, caller, emoji_name)
