"""Endpoints of flags."""

from typing import Annotated, Literal

import msgspec

from tertulia.conversations.channels.rules import ChannelId
from tertulia.conversations.read_state.marking.actions import mark_all_read
from tertulia.conversations.topics.rules import known_topic
from tertulia.kernel.auth import Person
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.endpoint import get, post
from tertulia.kernel.errors import Refusal
from tertulia.messaging.flags import actions
from tertulia.messaging.flags.queries import readers_of
from tertulia.messaging.flags.rules import check_flag, clamp
from tertulia.messaging.narrows.terms import Narrow
from tertulia.messaging.reading.access import access_message
from tertulia.messaging.reading.windows import Window
from tertulia.organization.realms.settings import settings_of
from tertulia.people.users.visibility.actions import hidden_from

MAX_MARKED = 50_000
MessageIds = Annotated[list[int], msgspec.Meta(max_length=MAX_MARKED)]
Count = Annotated[int, msgspec.Meta(ge=0)]
Op = Literal["add", "remove"]


class Marked(msgspec.Struct):
    """The answer of POST /messages/flags."""

    messages: list[int]
    ignored_because_not_subscribed_channels: list[int]


class MarkedNarrow(msgspec.Struct, kw_only=True):
    """The answer of POST /messages/flags/narrow."""

    processed_count: int
    updated_count: int
    first_processed_id: int | None
    last_processed_id: int | None
    found_oldest: bool
    found_newest: bool
    ignored_because_not_subscribed_channels: list[int]


class Receipts(msgspec.Struct):
    """The answer of GET /messages/{message_id}/read_receipts."""

    user_ids: list[int]


class Complete(msgspec.Struct):
    """The answer of POST /mark_all_as_read; there is never a rest to come back for."""

    complete: bool = True


@post("/messages/flags")
async def update_flags(caller: Person, database: Database, *, messages: MessageIds, op: Op, flag: str) -> Marked:
    """Put a flag of yours on messages, or take it off: `read`, `starred` or `collapsed`."""
    check_flag(flag)
    return Marked(messages, await actions.change_flags(database, caller, messages, flag, adds=op == "add"))


@post("/messages/flags/narrow")
async def update_flags_of_narrow(
    caller: Person,
    tx: Transaction,
    *,
    anchor: str,
    num_before: Count,
    num_after: Count,
    include_anchor: bool = True,
    narrow: Narrow,
    op: Op,
    flag: str,
) -> MarkedNarrow:
    """Put a flag of yours on the messages of a narrow around an anchor, or take it off; at most 5000 at once."""
    check_flag(flag)
    if anchor == "date":
        raise Refusal("Invalid anchor: a message ID, newest, oldest or first_unread.")
    window = Window(anchor, *clamp(num_before, num_after), include_anchor)
    found, done = await actions.change_flag_in(tx, caller, narrow, window, flag, adds=op == "add")
    return MarkedNarrow(
        processed_count=len(found.ids),
        updated_count=len(done.changed),
        first_processed_id=found.ids[0] if found.ids else None,
        last_processed_id=found.ids[-1] if found.ids else None,
        found_oldest=found.found_oldest,
        found_newest=found.found_newest,
        ignored_because_not_subscribed_channels=done.left,
    )


@get("/messages/{message_id}/read_receipts")
async def get_read_receipts(caller: Person, reader: Reader, *, message_id: int) -> Receipts:
    """Who has read a message, in organizations that show it."""
    if not settings_of(caller).enable_read_receipts:
        raise Refusal("Read receipts are disabled in this organization.")
    message = await access_message(reader, caller, message_id)
    found = await readers_of(reader, caller.user_id, message.conversation_id, message.seq, message.sender_id)
    hidden = await hidden_from(reader, caller, found)
    return Receipts([user_id for user_id in found if user_id not in hidden])


@post("/mark_all_as_read")
async def mark_all_as_read(caller: Person, tx: Transaction) -> Complete:
    """Mark all your messages read."""
    await mark_all_read(tx, caller)
    return Complete()


@post("/mark_stream_as_read")
async def mark_stream_as_read(caller: Person, tx: Transaction, *, stream_id: ChannelId) -> None:
    """Mark everything in a channel read."""
    await actions.read_channel(tx, caller, stream_id)


@post("/mark_topic_as_read")
async def mark_topic_as_read(caller: Person, tx: Transaction, *, stream_id: ChannelId, topic_name: str) -> None:
    """Mark everything in a topic read."""
    name = known_topic(topic_name, settings_of(caller))
    await actions.read_topic(tx, caller, stream_id, name)
