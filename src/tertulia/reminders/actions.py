"""Setting a reminder, dropping it, and being reminded."""

from tertulia.events.record import Audience, Record, record
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.messages.access import access_message
from tertulia.messages.actions import Sending
from tertulia.messages.queries import reached_messages
from tertulia.notices import Notice, tell
from tertulia.reminders import queries
from tertulia.reminders.model import Reminder, said
from tertulia.scheduled.actions import check_future

MAX_NOTE_LENGTH = 1000
BATCH = 100


async def remind(database: Database, sending: Sending, caller: Caller, message_id: int, due: int, note: str) -> int:
    """Come back to a message later; the reminder's id."""
    check_future(due)
    note = note.strip()
    if len(note) > MAX_NOTE_LENGTH:
        raise Refusal(f"A note is too long (limit: {MAX_NOTE_LENGTH} characters).")
    async with database.reader() as reader:
        message = await access_message(reader, caller, message_id)
    rendered = await sending.composer.render(caller, said(message.content, note))
    new = Reminder(0, caller.realm_id, caller.user_id, message_id, message.content, note, rendered, due)
    async with database.transaction() as tx:
        reminder = await queries.insert_reminder(tx, new)
        tx.emit(caller.realm_id, _event(caller.user_id, "add", reminders=[reminder.record]))
    return reminder.id


async def drop(tx: Transaction, caller: Caller, reminder_id: int) -> None:
    """Not to be reminded after all."""
    if not await queries.delete_reminder(tx, caller.user_id, reminder_id):
        raise Refusal("There is no such reminder.")
    tx.emit(caller.realm_id, _event(caller.user_id, "remove", reminder_id=reminder_id))


async def remind_all(database: Database) -> int:
    """Remind everybody whose time has come; how many."""
    total = 0
    while True:
        async with database.transaction() as tx:
            due = await queries.take_due(tx, BATCH)
            for reminder in due:
                await _say(tx, reminder)
        total += len(due)
        if len(due) < BATCH:
            return total


async def _say(tx: Transaction, reminder: Reminder) -> None:
    rows = await reached_messages(tx, reminder.realm_id, reminder.user_id, [reminder.message_id])
    content = rows[0]["content"] if rows else reminder.content
    await tell(tx, reminder.realm_id, [Notice(said(content, reminder.note), user_id=reminder.user_id)])
    tx.emit(reminder.realm_id, _event(reminder.user_id, "remove", reminder_id=reminder.id))


def _event(user_id: int, op: str, **keys: object) -> Record:
    return record(Audience(users=(user_id,)), "reminders", {"op": op, **keys})
