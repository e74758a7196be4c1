"""Endpoints of scheduled messages."""

from typing import Annotated

import msgspec

from tertulia.conversations.channels.rules import no_such_id
from tertulia.kernel.auth import Person
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.endpoint import Call, NoSuchId, Unread, delete, get, patch, post
from tertulia.messaging.scheduled import actions, queries
from tertulia.messaging.scheduled.actions import Changes, address_of
from tertulia.messaging.scheduled.model import ScheduledRecord
from tertulia.messaging.sending.actions import Sending
from tertulia.messaging.sending.model import SendRequest
from tertulia.messaging.sending.rules import MAX_RECIPIENTS, MessageType

UserIds = Annotated[list[int], msgspec.Meta(max_length=MAX_RECIPIENTS)]
To = Annotated[int | UserIds, NoSuchId(lambda to: no_such_id(to) if isinstance(to, int) else None)]
Moment = Annotated[int, msgspec.Meta(ge=0, le=253_402_300_799)]


class AllScheduled(msgspec.Struct):
    """The answer of GET /scheduled_messages."""

    scheduled_messages: list[ScheduledRecord]


class NewlyScheduled(msgspec.Struct):
    """The answer of POST /scheduled_messages."""

    scheduled_message_id: int


@get("/scheduled_messages")
async def get_scheduled(caller: Person, reader: Reader) -> AllScheduled:
    """Your messages that are still to be sent, and those that could not be."""
    return AllScheduled([one.record for one in await queries.scheduled_by(reader, caller.user_id)])


@post("/scheduled_messages")
async def schedule_message(
    caller: Person,
    call: Call,
    database: Database,
    sending: Sending,
    *,
    type: MessageType,
    to: To,
    content: str,
    topic: Unread[str],
    scheduled_delivery_timestamp: Moment,
    read_by_sender: bool | None = None,
) -> NewlyScheduled:
    """Schedule a message: it is sent at a time given in UNIX seconds."""
    request = SendRequest(address_of(type, to, topic.read), content, call.client, read=read_by_sender)
    return NewlyScheduled(await actions.schedule(database, sending, caller, request, scheduled_delivery_timestamp))


@patch("/scheduled_messages/{scheduled_message_id}")
async def change_scheduled(
    caller: Person,
    database: Database,
    sending: Sending,
    *,
    scheduled_message_id: int,
    type: MessageType | None = None,
    to: To | None = None,
    content: str | None = None,
    topic: Unread[str],
    scheduled_delivery_timestamp: Moment | None = None,
) -> None:
    """Change a scheduled message. Only what you pass changes."""
    changes = Changes(type, to, content, topic.read if topic.is_sent else None, scheduled_delivery_timestamp)
    await actions.change(database, sending, caller, scheduled_message_id, changes)


@delete("/scheduled_messages/{scheduled_message_id}")
async def give_up_scheduled(caller: Person, tx: Transaction, *, scheduled_message_id: int) -> None:
    """Delete a scheduled message: it is not sent."""
    await actions.give_up(tx, caller, scheduled_message_id)
