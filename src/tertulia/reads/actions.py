"""Marking messages as read and unread."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from tertulia.events.ranges import joined_ranges
from tertulia.events.record import Audience, record
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.reads import queries
from tertulia.reads.events import EMPTY_TOPIC
from tertulia.reads.queries import Seen
from tertulia.realms.settings import decode_settings

MAX_TOLD = 2000
"""How many messages one event tells of: the log takes no event of any size."""


async def mark_read(tx: Transaction, caller: Caller, message_ids: Sequence[int], *, read: bool) -> list[int]:
    """Mark messages read or unread, and tell the user's other clients; the ids that changed."""
    conversations = await queries.conversations_of(tx, message_ids)
    await queries.lock_read_states(tx, caller.user_id, conversations)
    changed = await queries.messages_to_change(tx, caller.user_id, message_ids, read=read)
    if not changed:
        return []
    numbers: defaultdict[int, list[int]] = defaultdict(list)
    for message in changed:
        numbers[message.conversation_id].append(message.seq)
    ranges = {conversation: joined_ranges(seqs) for conversation, seqs in numbers.items()}
    await queries.change_read(tx, caller.user_id, ranges, read=read)
    for start in range(0, len(changed), MAX_TOLD):
        event = event_of(caller, changed[start : start + MAX_TOLD], read=read)
        tx.emit(caller.realm_id, record(Audience(users=(caller.user_id,)), "update_message_flags", event))
    return [message.id for message in changed]


def event_of(caller: Caller, changed: Sequence[Seen], *, read: bool) -> dict[str, Any]:
    """What the user's clients are told."""
    op = "add" if read else "remove"
    ids = [message.id for message in changed]
    event: dict[str, Any] = {"op": op, "operation": op, "flag": "read", "messages": ids, "all": False}
    if not read:
        event["message_details"] = {str(message.id): details_of(message, caller.user_id) for message in changed}
        if any(message.topic == "" for message in changed):
            event[EMPTY_TOPIC] = decode_settings(caller.realm_settings).empty_topic_display_name
    return event


def details_of(message: Seen, user_id: int) -> dict[str, Any]:
    """Where an unread message belongs, for clients that do not hold it."""
    if message.participants is None:
        return {
            "type": "stream",
            "stream_id": message.conversation_id,
            "topic": message.topic or "",
            "unmuted_stream_msg": not message.is_muted,
        }
    others = [other for other in message.participants if other != user_id]
    return {"type": "private", "user_ids": others}
