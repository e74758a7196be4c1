"""Scheduling a message, changing it, giving it up."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from tertulia.events.log.record import Audience, Record, record
from tertulia.kernel.auth import Caller
from tertulia.kernel.bounds import check_bytes, check_room, hold_count
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.messaging.scheduled import queries
from tertulia.messaging.scheduled.bounds import SCHEDULED, SCHEDULED_BYTES
from tertulia.messaging.scheduled.model import Scheduled
from tertulia.messaging.sending.actions import Sending
from tertulia.messaging.sending.model import SendRequest
from tertulia.messaging.sending.rules import MessageType, ToChannel, ToPeople, address, is_read_by_sender

ATTEMPTS = 3
DIRECT = ("direct", "private")


class Changes(msgspec.Struct, frozen=True):
    """What is to be another in a scheduled message; None: as it is."""

    type: MessageType | None = None
    to: int | Sequence[int] | None = None
    content: str | None = None
    topic: Callable[[], str | None] | None = None
    due: int | None = None


async def schedule(database: Database, sending: Sending, caller: Caller, request: SendRequest, due: int) -> int:
    """Keep a message until it is due; returns its id. Refused is what could not be sent now either."""
    check_future(due)
    new = await _judged(sending, caller, request, due)
    async with database.transaction() as tx:
        await check_room(tx, SCHEDULED, caller.person_id)
        scheduled_id = await queries.insert_scheduled(tx, caller.realm_id, caller.user_id, new)
        await check_bytes(tx, SCHEDULED_BYTES, caller.person_id)
        told = msgspec.structs.replace(new, id=scheduled_id)
        tx.emit(caller.realm_id, _event(caller.user_id, "add", scheduled_messages=[told.record]))
    return scheduled_id


async def change(database: Database, sending: Sending, caller: Caller, scheduled_id: int, changes: Changes) -> None:
    """Change what is given. A failed one gets another time with it, and is to be sent again."""
    if changes == Changes():
        raise Refusal("Nothing to change was passed.")
    for _ in range(ATTEMPTS):
        async with database.reader() as reader:
            old = await queries.find_scheduled(reader, caller.user_id, scheduled_id)
        if old is None:
            raise no_such_message()
        request, due = merged(old, changes)
        # Judged without holding the row: judging takes statements of its own.
        new = await _judged(sending, caller, request, due)
        new = msgspec.structs.replace(new, id=old.id, version=old.version, read=old.read)
        async with database.transaction() as tx:
            await hold_count(tx, SCHEDULED, caller.person_id)
            if await queries.update_scheduled(tx, caller.user_id, new):
                await check_bytes(tx, SCHEDULED_BYTES, caller.person_id)
                tx.emit(caller.realm_id, _event(caller.user_id, "update", scheduled_message=new.record))
                return
    raise Refusal("This message is being changed or sent at the same time. Please try again.")


async def give_up(tx: Transaction, caller: Caller, scheduled_id: int) -> None:
    """Not to be sent after all."""
    if not await queries.delete_scheduled(tx, [scheduled_id], caller.user_id):
        raise no_such_message()
    tx.emit(caller.realm_id, removed(caller.user_id, scheduled_id))


def merged(old: Scheduled, changes: Changes) -> tuple[SendRequest, int]:
    """The message as it would be; refuses changes that do not say enough."""
    is_channel = old.is_channel if changes.type is None else changes.type not in DIRECT
    if is_channel != old.is_channel:
        if changes.to is None:
            raise Refusal("A message of another type needs its recipient: pass to.")
        if is_channel and changes.topic is None:
            raise Refusal("A channel message needs a topic: pass topic.")
    if changes.due is not None:
        check_future(changes.due)
    elif old.failed:
        raise Refusal("This message could not be sent: pass a scheduled_delivery_timestamp in the future.")
    where = old.address
    if is_channel != old.is_channel or changes.to is not None or (is_channel and changes.topic is not None):
        to = changes.to if changes.to is not None else (old.channel_id if is_channel else old.user_ids)
        topic = changes.topic if changes.topic is not None else lambda: old.topic
        where = address_of("channel" if is_channel else "direct", to, topic)
    content = old.content if changes.content is None else changes.content
    return SendRequest(where, content, old.client, read=old.read), old.due if changes.due is None else changes.due


def address_of(type: MessageType, to: Any, topic: Callable[[], str | None]) -> ToChannel | ToPeople:
    """Where a scheduled message goes: by ids only."""
    if type in DIRECT:
        if not isinstance(to, list):
            raise Refusal("to is not a list of user IDs.")
    elif isinstance(to, list):
        raise Refusal("to is not a channel ID.")
    return address(type, to, topic)


def check_future(due: int) -> None:
    """Refuse what is over."""
    if due <= time.time():
        raise Refusal("The time of delivery must be in the future.")


def no_such_message() -> Refusal:
    """Somebody else's scheduled message, and one that has been sent, look like none."""
    return Refusal("There is no such scheduled message.")


def removed(user_id: int, scheduled_id: int) -> Record:
    """It is off the list."""
    return _event(user_id, "remove", scheduled_message_id=scheduled_id)


def failed(user_id: int, message: Scheduled) -> Record:
    """It could not be sent."""
    return _event(user_id, "update", scheduled_message=msgspec.structs.replace(message, failed=True).record)


async def _judged(sending: Sending, caller: Caller, request: SendRequest, due: int) -> Scheduled:
    message = await sending.prepare(caller, request, for_later=True)
    where = request.address
    people = None
    read = is_read_by_sender(request.read, request.client)
    if isinstance(where, ToPeople):
        people = sorted(set(where.ids) - {caller.user_id}) or [caller.user_id]
        # A note to oneself for later is there to be read then.
        read = request.read if request.read is not None else read and people != [caller.user_id]
    return Scheduled(
        channel_id=message.conversation_id if people is None else None,
        user_ids=people,
        topic=message.place.topic or "",
        content=message.text.content,
        rendered=message.text.html,
        client=request.client,
        read=read,
        due=due,
    )


def _event(user_id: int, op: str, **keys: object) -> Record:
    return record(Audience(users=(user_id,)), "scheduled_messages", {"op": op, **keys})
