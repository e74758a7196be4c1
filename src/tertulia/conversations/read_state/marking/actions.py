"""Marking messages read and unread, starring them; the user's other clients are told. Rights are the caller's to check."""

from collections.abc import Sequence
from typing import Any

from tertulia.conversations.empty_topic import EMPTY_TOPIC
from tertulia.conversations.read_state.marking import queries as changes
from tertulia.conversations.read_state.marks import Mark
from tertulia.conversations.read_state.model import UnreadAgain
from tertulia.events.log.record import Audience, record
from tertulia.kernel.auth import Caller
from tertulia.kernel.compat import old_flag_keys
from tertulia.kernel.db import Transaction
from tertulia.organization.realms.settings import settings_of

MAX_TOLD = 2000
"""How many messages one event tells of: the log takes no event of any size."""


async def mark_read(tx: Transaction, caller: Caller, message_ids: Sequence[int]) -> list[int]:
    """Mark messages read; returns those that were unread."""
    await changes.hold_places(tx, caller.realm_id, message_ids)
    changed = await changes.read_messages(tx, caller.user_id, message_ids)
    tell_flag(tx, caller, "read", changed)
    return changed


async def mark_unread(tx: Transaction, caller: Caller, message_ids: Sequence[int]) -> list[int]:
    """Mark messages unread in conversations the caller belongs to; returns those that were read."""
    await changes.hold_places(tx, caller.realm_id, message_ids)
    changed = await changes.unread_messages(tx, caller.user_id, message_ids)
    for start in range(0, len(changed), MAX_TOLD):
        _tell_unread(tx, caller, changed[start : start + MAX_TOLD])
    return [message.id for message in changed]


async def mark_channel_read(tx: Transaction, caller: Caller, channel_id: int) -> None:
    """Mark everything in a channel read."""
    await changes.hold_place(tx, caller.realm_id, channel_id)
    tell_flag(tx, caller, "read", await changes.read_channel(tx, caller.user_id, channel_id))


async def mark_topic_read(tx: Transaction, caller: Caller, channel_id: int, topic_id: int) -> None:
    """Mark everything in a topic read."""
    await changes.hold_place(tx, caller.realm_id, channel_id)
    tell_flag(tx, caller, "read", await changes.read_topic(tx, caller.user_id, channel_id, topic_id))


async def mark_all_read(tx: Transaction, caller: Caller) -> None:
    """Mark everything read. The event names no messages: it means all that came before it in the log.

    So no message may be stored meanwhile and come before the event without being marked.
    """
    await hold_everything(tx, caller.user_id)
    if await changes.read_everything(tx, caller.user_id):
        _tell(tx, caller, {"op": "add", "flag": "read", "messages": [], "all": True})


async def hold_everything(tx: Transaction, user_id: int, other_id: int | None = None) -> None:
    """Until the commit nothing is sent to, moved or deleted in any conversation of the user's, and they get into no other.
    Another, if one is given, stays until then.

    In a conversation that somebody put the user into in the same moment nobody was held back: then all over again.
    The account comes before the read states, as when somebody leaves a channel at the same moment.
    """
    while True:
        await tx.execute("savepoint everything")
        held = await changes.lock_everything(tx, user_id, other_id)
        if await changes.belongs_to_no_other(tx, user_id, held):
            return
        await tx.execute("rollback to savepoint everything")


async def mark_sender_read(tx: Transaction, caller: Caller, sender_id: int, *, is_muted: bool) -> None:
    """Mark everything somebody sent read, for whoever holds everything. If they are muted, it counted as read before, and
    nobody is told."""
    changed = await changes.read_sender(tx, caller.user_id, sender_id)
    if not is_muted:
        tell_flag(tx, caller, "read", changed)


async def change_mark(
    tx: Transaction, caller: Caller, flag: tuple[str, Mark], message_ids: Sequence[int], *, adds: bool
) -> list[int]:
    """Put a flag, given by its name and as it is stored, on messages or take it off; returns those that changed."""
    await changes.hold_places(tx, caller.realm_id, message_ids)
    name, mark = flag
    change = changes.add_mark if adds else changes.remove_mark
    changed = await change(tx, caller.user_id, mark, message_ids)
    tell_flag(tx, caller, name, changed, op="add" if adds else "remove")
    return changed


def tell_flag(tx: Transaction, caller: Caller, flag: str, ids: Sequence[int], *, op: str = "add") -> None:
    """Tell the user's clients of a flag that came or went, in parts."""
    for start in range(0, len(ids), MAX_TOLD):
        part = ids[start : start + MAX_TOLD]
        _tell(tx, caller, {"op": op, "flag": flag, "messages": part, "all": False})


def _tell_unread(tx: Transaction, caller: Caller, changed: Sequence[UnreadAgain]) -> None:
    ids = [message.id for message in changed]
    event: dict[str, Any] = {"op": "remove", "flag": "read", "messages": ids, "all": False}
    event["message_details"] = {str(message.id): details_of(message, caller.user_id) for message in changed}
    if any(message.topic == "" for message in changed):
        event[EMPTY_TOPIC] = settings_of(caller).empty_topic_display_name
    _tell(tx, caller, event)


def _tell(tx: Transaction, caller: Caller, event: dict[str, Any]) -> None:
    event |= old_flag_keys(event["op"])
    tx.emit(caller.realm_id, record(Audience(users=(caller.user_id,)), "update_message_flags", event))


def details_of(message: UnreadAgain, user_id: int) -> dict[str, Any]:
    """Where an unread message belongs, for clients that do not hold it."""
    details: dict[str, Any]
    if message.participants is None:
        details = {
            "type": "stream",
            "stream_id": message.conversation_id,
            "topic": message.topic or "",
            "unmuted_stream_msg": not message.is_muted,
        }
    else:
        others = [other for other in message.participants if other != user_id]
        details = {"type": "private", "user_ids": others}
    return details | {"mentioned": True} if message.is_mention else details
