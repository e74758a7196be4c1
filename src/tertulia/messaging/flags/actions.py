"""Changing flags on messages."""

from collections.abc import Sequence

import msgspec

from tertulia.conversations.channels.access import get_channel
from tertulia.conversations.channels.rules import name_key_of
from tertulia.conversations.read_state.marking.actions import (
    change_mark,
    mark_channel_read,
    mark_read,
    mark_topic_read,
    mark_unread,
)
from tertulia.conversations.read_state.marks import EDITABLE_MARKS
from tertulia.conversations.read_state.model import MessageStanding
from tertulia.conversations.read_state.queries import standings
from tertulia.conversations.topics.queries import find_topic
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Database, Transaction
from tertulia.messaging.narrows.terms import Term
from tertulia.messaging.reading.access import no_such_message, reaches_all
from tertulia.messaging.reading.windows import FoundWindow, Window, check_window, find_window, narrow_down

PORTION = 1000


class Flagged(msgspec.Struct, frozen=True):
    """What a change of flags did."""

    changed: list[int]
    left: list[int]
    """Channels whose messages stayed read, because the caller is not subscribed."""


async def change_flags(
    database: Database, caller: Caller, message_ids: Sequence[int], flag: str, *, adds: bool
) -> list[int]:
    """Put a flag on messages, or take it off, a portion per transaction: meanwhile nobody moves them. Returns the channels whose
    messages stayed read, because the caller is not subscribed."""
    if len(message_ids) > PORTION and not (flag == "read" and adds):
        async with database.transaction() as tx:
            await reach(tx, caller, message_ids)  # all of them, or none
    left: set[int] = set()
    for start in range(0, len(message_ids), PORTION):
        async with database.transaction() as tx:
            done = await change_flag(tx, caller, message_ids[start : start + PORTION], flag, adds=adds)
        left.update(done.left)
    return sorted(left)


async def change_flag(tx: Transaction, caller: Caller, message_ids: Sequence[int], flag: str, *, adds: bool) -> Flagged:
    """Put a flag on messages, or take it off."""
    if flag == "read" and adds:
        return Flagged(await mark_read(tx, caller, message_ids), [])
    return await _change(tx, caller, await reach(tx, caller, message_ids), flag, adds=adds)


async def change_flag_in(
    tx: Transaction, caller: Caller, terms: Sequence[Term], window: Window, flag: str, *, adds: bool
) -> tuple[FoundWindow, Flagged]:
    """As `change_flag`, for the messages of a narrow around an anchor."""
    check_window(window)
    found = await find_window(tx, await narrow_down(tx, caller, terms), window)
    if flag == "read" and adds:
        return found, Flagged(await mark_read(tx, caller, found.ids), [])
    known = await standings(tx, caller.realm_id, caller.user_id, found.ids)
    return found, await _change(tx, caller, known, flag, adds=adds)


async def _change(
    tx: Transaction, caller: Caller, known: Sequence[MessageStanding], flag: str, *, adds: bool
) -> Flagged:
    if flag == "read":
        changed = await mark_unread(tx, caller, [message.id for message in known if message.belongs])
        return Flagged(changed, sorted({message.conversation_id for message in known if not message.belongs}))
    ids = [message.id for message in known]
    return Flagged(await change_mark(tx, caller, (flag, EDITABLE_MARKS[flag]), ids, adds=adds), [])


async def reach(tx: Transaction, caller: Caller, message_ids: Sequence[int]) -> list[MessageStanding]:
    """The messages, each of which the caller received or reaches now; refuses otherwise."""
    known = await standings(tx, caller.realm_id, caller.user_id, message_ids)
    if len(known) < len(set(message_ids)):
        raise no_such_message()
    strange = [message.id for message in known if not message.is_received]
    if strange and not await reaches_all(tx, caller, strange):
        raise no_such_message()
    return known


async def read_channel(tx: Transaction, caller: Caller, channel_id: int) -> None:
    """Mark a channel read."""
    await mark_channel_read(tx, caller, (await get_channel(tx, caller, channel_id)).id)


async def read_topic(tx: Transaction, caller: Caller, channel_id: int, name: str) -> None:
    """Mark a topic read; one that does not exist has nothing unread."""
    channel = await get_channel(tx, caller, channel_id)
    topic = await find_topic(tx, channel.id, name_key_of(name))
    if topic is not None:
        await mark_topic_read(tx, caller, channel.id, topic.id)
