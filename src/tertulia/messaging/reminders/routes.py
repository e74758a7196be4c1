"""Endpoints of reminders."""

import msgspec

from tertulia.kernel.auth import Human
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.endpoint import delete, get, post
from tertulia.messaging.reminders import actions, queries
from tertulia.messaging.reminders.model import ReminderRecord
from tertulia.messaging.scheduled.routes import Moment
from tertulia.messaging.sending.actions import Sending


class Reminders(msgspec.Struct):
    """The answer of GET /reminders."""

    reminders: list[ReminderRecord]


class Set(msgspec.Struct):
    """The answer of POST /reminders."""

    reminder_id: int


@get("/reminders")
async def get_reminders(caller: Human, reader: Reader) -> Reminders:
    """Your reminders, by their time."""
    return Reminders(await actions.show(reader, await queries.reminders_of(reader, caller.user_id)))


@post("/reminders")
async def set_reminder(
    caller: Human,
    database: Database,
    sending: Sending,
    *,
    message_id: int,
    scheduled_delivery_timestamp: Moment,
    note: str = "",
) -> Set:
    """Set a reminder of a message, at a time given in UNIX seconds."""
    return Set(await actions.remind(database, sending, caller, message_id, scheduled_delivery_timestamp, note))


@delete("/reminders/{reminder_id}")
async def drop_reminder(caller: Human, tx: Transaction, *, reminder_id: int) -> None:
    """Delete a reminder."""
    await actions.drop(tx, caller, reminder_id)
