"""Pinning messages, unpinning them, and which there are."""

import msgspec

from tertulia.conversations.channels.access import find_channel
from tertulia.kernel.auth import Caller, Role
from tertulia.kernel.bounds import check_room
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.messaging.pins import queries
from tertulia.messaging.pins.bounds import OF_DIRECT, OF_TOPIC
from tertulia.messaging.pins.events import tell
from tertulia.messaging.pins.queries import PinRecord
from tertulia.messaging.reading.access import Reached, access_message, hold_message, no_such_message, reached_among
from tertulia.messaging.sending.queries import direct_place
from tertulia.organization.realms.queries import hold_role


async def pin(tx: Transaction, caller: Caller, message_id: int) -> None:
    """Pin a message. One that is pinned stays so."""
    message = await _hold(tx, caller, message_id)
    if await queries.is_pinned(tx, message_id, message.conversation_id, message.topic_id):
        return
    if message.topic_id is None:
        await check_room(tx, OF_DIRECT, message.conversation_id)
    else:
        await check_room(tx, OF_TOPIC, message.topic_id)
    at = await queries.insert_pin(tx, message_id, message.conversation_id, message.topic_id)
    await tell(tx, caller.realm_id, message, at)


async def unpin(tx: Transaction, caller: Caller, message_id: int) -> None:
    """Unpin a message. One that is not pinned stays so."""
    message = await _hold(tx, caller, message_id)
    if await queries.delete_pin(tx, message_id):
        await tell(tx, caller.realm_id, message, None)


async def pins_beside(database: Database, caller: Caller, message_id: int) -> list[PinRecord]:
    """The pins of the conversation that a message is in, as far as the caller reads them, the newest first."""
    async with database.reader() as reader:
        message = await access_message(reader, caller, message_id)
        # More may have come with messages from elsewhere.
        most = database.bounds.limit(OF_DIRECT if message.topic_id is None else OF_TOPIC)
        pins = await queries.pins_of(reader, message.conversation_id, message.topic_id, most)
        reached = await reached_among(reader, caller, [one.message_id for one in pins])
    return [one for one in pins if one.message_id in reached]


async def _hold(tx: Transaction, caller: Caller, message_id: int) -> Reached:
    """The message, held, for somebody who may pin there: who may post, and is no guest."""
    message = await hold_message(tx, caller, message_id)
    if message.is_archived:
        raise no_such_message()
    role = await hold_role(tx, caller.user_id, lightly=True)
    if role is None or role >= Role.GUEST:
        raise Refusal("Insufficient permission")
    caller = msgspec.structs.replace(caller, role=role)
    if message.participants is None:
        channel = await find_channel(tx, caller, message.conversation_id)
        if channel is None or not (channel.may_post and channel.may_send):
            raise Refusal("You can't pin messages in a channel where you can't post.")
    else:
        _, refusal = await direct_place(tx, caller.realm_id, caller.user_id, message.participants)
        if refusal is not None:
            raise Refusal("You can't pin messages in a conversation where you can't write.")
    if message.topic_id is not None:
        # As it is called now: what is told of it comes after what is told of its renaming.
        message = msgspec.structs.replace(message, topic=await queries.hold_topic(tx, message.topic_id))
    return message
