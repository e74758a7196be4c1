"""Deleting messages: one, or a topic in portions."""

import time

from tertulia.conversations.channels.access import get_active_channel
from tertulia.conversations.channels.model import Channel
from tertulia.conversations.channels.rules import name_key_of
from tertulia.conversations.read_state.marking.queries import change_places
from tertulia.conversations.topics.queries import find_topic
from tertulia.conversations.topics.rules import known_topic
from tertulia.files.uploads.links.actions import unlink
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Database, Transaction
from tertulia.messaging.editing import queries
from tertulia.messaging.editing.holding import hold
from tertulia.messaging.editing.model import Moving
from tertulia.messaging.editing.moving import policies
from tertulia.messaging.editing.moving import queries as statements
from tertulia.messaging.editing.rules import check_may_delete
from tertulia.messaging.editing.telling import listeners, tell_deleted, tell_first_messages, tell_markers_deleted
from tertulia.messaging.reading.access import Reached, access_message
from tertulia.messaging.sending.participants import forget_participants, participants_by
from tertulia.organization.audit_log import Act, note
from tertulia.organization.audit_log import channel as channel_target
from tertulia.organization.realms.changing.actions import check_is_administrator
from tertulia.organization.realms.settings import settings_of

PORTION = 100
PATIENCE_SECONDS = 50.0
"""How long one request deletes a topic before it answers that there is more."""


async def delete_message(tx: Transaction, caller: Caller, message_id: int) -> None:
    """Delete a message, if the caller may."""
    held = await hold(tx, caller, message_id)
    message = held.message
    check_may_delete(message, caller.user_id, held.rights, settings_of(caller))
    await remove(tx, caller, message, held.channel, [Moving(message.id, message.seq)])
    if message.sender_id != caller.user_id:
        where = {"sender": (message.sender_id, None), "channel": (held.channel.id if held.channel else None, None)}
        note(tx, caller.realm_id, Act.MESSAGE_DELETED, ("message", message.id), **where)


async def remove(
    tx: Transaction, caller: Caller, message: Reached, channel: Channel | None, messages: list[Moving]
) -> None:
    """Remove messages of one topic or direct conversation, `message` among them, and tell. Under the lock."""
    await change_places(tx, caller.realm_id, [message.conversation_id])
    told = await listeners(tx, message, channel, messages)
    ids = [one.id for one in messages]
    channels = [] if channel is None else [channel]
    first = await queries.first_message_ids(tx, [channel.id for channel in channels]) if channels else {}
    if channel is not None:
        await tell_markers_deleted(tx, caller, message, channel, messages)
    people = await participants_by(tx, ids) if message.topic_id is not None else []
    await unlink(tx, caller.realm_id, ids)
    await queries.delete_messages(tx, ids)
    if message.topic_id is not None:
        await queries.refresh_topics(tx, [message.topic_id])
        await forget_participants(tx, message.topic_id, people)
    await tell_deleted(tx, caller, told, message)
    if channels:
        await tell_first_messages(tx, caller, channels, first)


async def delete_topic(database: Database, caller: Caller, channel_id: int, name: str) -> bool:
    """Delete what the caller sees of a topic, newest first, a portion per transaction; returns whether all of it is gone."""
    topic = known_topic(name, settings_of(caller))
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        async with database.transaction() as tx:
            if not await _delete_portion(tx, caller, channel_id, topic):
                return True
    return False


async def _delete_portion(tx: Transaction, caller: Caller, channel_id: int, name: str) -> bool:
    """Whether there may be more. Each time anew it is asked whether the caller is an administrator: a topic takes long."""
    await queries.lock_conversation(tx, channel_id)
    caller = await check_is_administrator(tx, caller, lightly=True)
    channel = await get_active_channel(tx, caller, channel_id)
    topic = await find_topic(tx, channel_id, name_key_of(name))
    if topic is None:
        return False
    public = channel.history_public_to_subscribers
    history = None if public else await queries.history_of(tx, channel_id, caller.user_id)
    messages = await queries.newest_of_topic(tx, topic.id, history, PORTION)
    if messages:
        message = await access_message(tx, caller, messages[0].id)
        await remove(tx, caller, message, channel, messages)
        gone = {"topic": (topic.id, None), "messages": (len(messages), 0)}
        note(tx, caller.realm_id, Act.TOPIC_DELETED, channel_target(channel_id), **gone)
    if len(messages) == PORTION:
        return True
    left = await statements.find_topic(tx, channel_id, name_key_of(name))
    if left is not None and not left.has_messages:
        await statements.hold_topics(tx, [topic.id])
        await policies.clear(tx, caller, topic)
    return False
