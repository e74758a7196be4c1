"""Endpoints of read state."""

from typing import Annotated, Literal

import msgspec

from tertulia.kernel.auth import Person
from tertulia.kernel.db import Transaction
from tertulia.kernel.endpoint import post
from tertulia.kernel.errors import Refusal
from tertulia.reads.actions import mark_read
from tertulia.reads.queries import channels_left

MAX_MARKED = 50_000
MessageIds = Annotated[list[int], msgspec.Meta(max_length=MAX_MARKED)]


class Marked(msgspec.Struct):
    """The answer of POST /messages/flags."""

    messages: list[int]
    ignored_because_not_subscribed_channels: list[int]


@post("/messages/flags")
async def update_flags(
    caller: Person, tx: Transaction, *, messages: MessageIds, op: Literal["add", "remove"], flag: str
) -> Marked:
    """Mark messages as read or unread for yourself. Messages you have not received are passed over."""
    if flag != "read":
        raise Refusal(f"Invalid flag: '{flag}'. This server keeps the flag 'read'; others will follow.")
    await mark_read(tx, caller, messages, read=op == "add")
    left = await channels_left(tx, caller.user_id, messages) if op == "remove" else []
    return Marked(messages, left)
