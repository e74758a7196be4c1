"""Endpoints of flags."""

from typing import Annotated, Literal

import msgspec

from tertulia.flags import actions
from tertulia.flags.rules import check_flag
from tertulia.kernel.auth import Person
from tertulia.kernel.db import Transaction
from tertulia.kernel.endpoint import post
from tertulia.reads.actions import mark_all_read
from tertulia.realms.settings import decode_settings
from tertulia.topics.rules import clean_decided_topic

MAX_MARKED = 50_000
MessageIds = Annotated[list[int], msgspec.Meta(max_length=MAX_MARKED)]
Op = Literal["add", "remove"]


class Marked(msgspec.Struct):
    """The answer of POST /messages/flags."""

    messages: list[int]
    ignored_because_not_subscribed_channels: list[int]


class Complete(msgspec.Struct):
    """The answer of POST /mark_all_as_read; there is never a rest to come back for."""

    complete: bool = True


@post("/messages/flags")
async def update_flags(caller: Person, tx: Transaction, *, messages: MessageIds, op: Op, flag: str) -> Marked:
    """Put a flag of yours on messages, or take it off: `read`, `starred` or `collapsed`."""
    check_flag(flag)
    done = await actions.change_flag(tx, caller, messages, flag, adds=op == "add")
    return Marked(messages, done.left)


@post("/mark_all_as_read")
async def mark_all_as_read(caller: Person, tx: Transaction) -> Complete:
    """Mark all your messages read."""
    await mark_all_read(tx, caller)
    return Complete()


@post("/mark_stream_as_read")
async def mark_stream_as_read(caller: Person, tx: Transaction, *, stream_id: int) -> None:
    """Mark everything in a channel read."""
    await actions.read_channel(tx, caller, stream_id)


@post("/mark_topic_as_read")
async def mark_topic_as_read(caller: Person, tx: Transaction, *, stream_id: int, topic_name: str) -> None:
    """Mark everything in a topic read."""
    name = clean_decided_topic(topic_name, decode_settings(caller.realm_settings))
    await actions.read_topic(tx, caller, stream_id, name)
