"""Deleting messages: one, or a topic in portions."""

import time

from tertulia.channels.access import find_channel
from tertulia.channels.model import Channel
from tertulia.channels.rules import name_key_of
from tertulia.edits import policies, queries, statements
from tertulia.edits.holding import hold
from tertulia.edits.model import Moving
from tertulia.edits.rights import rights_over
from tertulia.edits.rules import check_may_delete
from tertulia.edits.telling import listeners, tell_deleted, tell_first_messages, tell_markers_deleted
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.messages.access import Reached, access_message
from tertulia.reads.change_queries import change_places
from tertulia.realms.settings import decode_settings
from tertulia.topics.queries import find_topic
from tertulia.topics.rules import clean_topic
from tertulia.uploads.links import unlink

PORTION = 100
PATIENCE_SECONDS = 50.0
"""How long one request deletes a topic before it answers that there is more."""


async def delete_message(tx: Transaction, caller: Caller, message_id: int) -> None:
    """Delete a message, if the caller may."""
    message, channel, _ = await hold(tx, caller, message_id)
    rights = await rights_over(tx, caller, message.sender_id, message.conversation_id)
    check_may_delete(message, caller.user_id, rights, decode_settings(caller.realm_settings))
    await remove(tx, caller, message, channel, [Moving(message.id, message.seq)])


async def remove(
    tx: Transaction, caller: Caller, message: Reached, channel: Channel | None, messages: list[Moving]
) -> None:
    """Remove messages of one topic or direct conversation, `message` among them, and tell. Under the lock."""
    await change_places(tx, caller.realm_id)
    told = await listeners(tx, message, channel, messages)
    ids = [one.id for one in messages]
    channels = [] if channel is None else [channel]
    first = await queries.first_message_ids(tx, [channel.id for channel in channels]) if channels else {}
    if channel is not None:
        await tell_markers_deleted(tx, caller, message, channel, messages)
    people = await queries.participants_by(tx, ids) if message.topic_id is not None else []
    await unlink(tx, caller.realm_id, ids)
    await queries.delete_messages(tx, ids)
    if message.topic_id is not None:
        await queries.refresh_topics(tx, [message.topic_id])
        await queries.forget_participants(tx, message.topic_id, people)
    tell_deleted(tx, caller, told, message)
    if channels:
        await tell_first_messages(tx, caller, channels, first)


async def delete_topic(database: Database, caller: Caller, channel_id: int, name: str) -> bool:
    """Delete what the caller sees of a topic, newest first, a portion per transaction; whether all of it is gone."""
    topic = clean_topic(name, decode_settings(caller.realm_settings))
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        async with database.transaction() as tx:
            if not await _delete_portion(tx, caller, channel_id, topic):
                return True
    return False


async def _delete_portion(tx: Transaction, caller: Caller, channel_id: int, name: str) -> bool:
    """Whether there may be more."""
    await queries.lock_conversation(tx, channel_id)
    channel = await find_channel(tx, caller, channel_id)
    if channel is None or channel.is_archived:
        raise Refusal("Invalid channel ID")
    topic = await find_topic(tx, channel_id, name_key_of(name))
    if topic is None:
        return False
    public = channel.history_public_to_subscribers
    history = None if public else await queries.history_of(tx, channel_id, caller.user_id)
    messages = await queries.newest_of_topic(tx, topic.id, history, PORTION)
    if messages:
        message = await access_message(tx, caller, messages[0].id)
        await remove(tx, caller, message, channel, messages)
    if len(messages) == PORTION:
        return True
    left = await statements.find_topic(tx, channel_id, name_key_of(name))
    if left is not None and not left.has_messages:
        await statements.hold_topics(tx, [topic.id])
        await policies.clear(tx, caller, topic)
    return False
