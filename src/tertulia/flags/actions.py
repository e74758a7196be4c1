"""Changing flags on messages."""

from collections.abc import Sequence

import msgspec

from tertulia.channels.access import find_channel
from tertulia.channels.rules import name_key_of
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.messages.access import find_messages, no_such_message
from tertulia.messages.windows import Found, Window, check_window, find_window, narrow_down
from tertulia.narrows.terms import Term
from tertulia.reads.actions import change_mark, mark_channel_read, mark_read, mark_topic_read, mark_unread
from tertulia.reads.model import EDITABLE_MARKS, Standing
from tertulia.reads.queries import standings
from tertulia.topics.queries import find_topic


class Flagged(msgspec.Struct, frozen=True):
    """What a change of flags did."""

    changed: list[int]
    left: list[int]
    """Channels whose messages stayed read, because the caller is not subscribed."""


async def change_flag(tx: Transaction, caller: Caller, message_ids: Sequence[int], flag: str, *, adds: bool) -> Flagged:
    """Put a flag on messages, or take it off."""
    if flag == "read" and adds:
        return Flagged(await mark_read(tx, caller, message_ids), [])
    return await _change(tx, caller, await reach(tx, caller, message_ids), flag, adds=adds)


async def change_flag_in(
    tx: Transaction, caller: Caller, terms: Sequence[Term], window: Window, flag: str, *, adds: bool
) -> tuple[Found, Flagged]:
    """As `change_flag`, for the messages of a narrow around an anchor."""
    check_window(window)
    found = await find_window(tx, await narrow_down(tx, caller, terms), window)
    if flag == "read" and adds:
        return found, Flagged(await mark_read(tx, caller, found.ids), [])
    known = await standings(tx, caller.realm_id, caller.user_id, found.ids)
    return found, await _change(tx, caller, known, flag, adds=adds)


async def _change(tx: Transaction, caller: Caller, known: Sequence[Standing], flag: str, *, adds: bool) -> Flagged:
    if flag == "read":
        changed = await mark_unread(tx, caller, [message.id for message in known if message.belongs])
        return Flagged(changed, sorted({message.conversation_id for message in known if not message.belongs}))
    ids = [message.id for message in known]
    return Flagged(await change_mark(tx, caller, (flag, EDITABLE_MARKS[flag]), ids, adds=adds), [])


async def reach(tx: Transaction, caller: Caller, message_ids: Sequence[int]) -> list[Standing]:
    """The messages, each of which the caller received or reaches now; refuses otherwise."""
    known = await standings(tx, caller.realm_id, caller.user_id, message_ids)
    if len(known) < len(set(message_ids)):
        raise no_such_message()
    strange = [message.id for message in known if not message.is_received]
    if strange and len(await find_messages(tx, caller, strange)) < len(strange):
        raise no_such_message()
    return known


async def read_channel(tx: Transaction, caller: Caller, channel_id: int) -> None:
    """Mark a channel read."""
    await mark_channel_read(tx, caller, await _get_channel_id(tx, caller, channel_id))


async def read_topic(tx: Transaction, caller: Caller, channel_id: int, name: str) -> None:
    """Mark a topic read; one that does not exist has nothing unread."""
    topic = await find_topic(tx, await _get_channel_id(tx, caller, channel_id), name_key_of(name))
    if topic is not None:
        await mark_topic_read(tx, caller, channel_id, topic.id)


async def _get_channel_id(tx: Transaction, caller: Caller, channel_id: int) -> int:
    channel = await find_channel(tx, caller, channel_id)
    if channel is None:
        raise Refusal("Invalid channel ID")
    return channel.id
