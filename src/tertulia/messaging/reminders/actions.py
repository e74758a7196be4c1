"""Setting a reminder, dropping it, and being reminded."""

from collections.abc import Sequence

from tertulia.content.markup.writing import ChannelLink
from tertulia.events.log.record import Audience, Record, record
from tertulia.kernel.auth import Caller
from tertulia.kernel.bounds import MAX_ANSWER_BYTES, check_bytes, check_room
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.messaging.reading.access import access_message
from tertulia.messaging.reading.queries import reached_briefly
from tertulia.messaging.reminders import queries
from tertulia.messaging.reminders.bounds import REMINDER_BYTES, REMINDERS
from tertulia.messaging.reminders.model import Remembered, Reminder, ReminderRecord, said
from tertulia.messaging.reminders.words import words_of
from tertulia.messaging.scheduled.actions import check_future
from tertulia.messaging.sending.actions import Sending
from tertulia.organization.notices import Notice, tell
from tertulia.organization.notices.queries import language_of
from tertulia.organization.realms.queries import get_realm

MAX_NOTE_LENGTH = 1000
BATCH = 100


async def remind(database: Database, sending: Sending, caller: Caller, message_id: int, due: int, note: str) -> int:
    """Come back to a message later; returns the reminder's id."""
    check_future(due)
    note = note.strip()
    if len(note) > MAX_NOTE_LENGTH:
        raise Refusal(f"A note is too long (limit: {MAX_NOTE_LENGTH} characters).")
    rendered_note = await sending.composer.render(caller, note) if note else ""
    new = Reminder(0, caller.realm_id, caller.user_id, message_id, note, rendered_note, due)
    async with database.transaction() as tx:
        await access_message(tx, caller, message_id)
        await check_room(tx, REMINDERS, caller.user_id)
        reminder = await queries.insert_reminder(tx, new)
        await check_bytes(tx, REMINDER_BYTES, caller.user_id)
        tx.emit(caller.realm_id, _event(caller.user_id, "add", reminders=await show(tx, [reminder])))
    return reminder.id


async def show(reader: Reader, reminders: Sequence[Reminder]) -> list[ReminderRecord]:
    """Somebody's reminders with their messages as they are now; only the beginnings of those that make the list too long."""
    if not reminders:
        return []
    ids = [one.message_id for one in reminders]
    found = await _remembered(reader, reminders[0].realm_id, reminders[0].user_id, ids)
    words = words_of(await language_of(reader, reminders[0].user_id))
    return [one.shown(words, found.get(one.message_id)) for one in reminders]


async def _remembered(reader: Reader, realm_id: int, user_id: int, message_ids: Sequence[int]) -> dict[int, Remembered]:
    """Those of the messages that somebody can read at this moment."""
    empty = (await get_realm(reader, realm_id)).settings.empty_topic_display_name
    found = {}
    for row in await reached_briefly(reader, realm_id, user_id, message_ids, MAX_ANSWER_BYTES):
        channel, topic = row["channel"], row["topic"] or empty
        place = None if channel is None else ChannelLink(row["conversation_id"], channel, topic, row["id"])
        found[row["id"]] = Remembered(row["content"], row["rendered"], place)
    return found


async def drop(tx: Transaction, caller: Caller, reminder_id: int) -> None:
    """Not to be reminded after all."""
    if not await queries.delete_reminder(tx, caller.user_id, reminder_id):
        raise Refusal("There is no such reminder.")
    tx.emit(caller.realm_id, _event(caller.user_id, "remove", reminder_id=reminder_id))


async def remind_all(database: Database) -> int:
    """Remind everybody whose time has come; returns how many."""
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
    found = await _remembered(tx, reminder.realm_id, reminder.user_id, [reminder.message_id])
    words = words_of(await language_of(tx, reminder.user_id))
    text = said(words, found.get(reminder.message_id), reminder.note)
    await tell(tx, reminder.realm_id, [Notice(text, user_id=reminder.user_id)])
    tx.emit(reminder.realm_id, _event(reminder.user_id, "remove", reminder_id=reminder.id))


def _event(user_id: int, op: str, **keys: object) -> Record:
    return record(Audience(users=(user_id,)), "reminders", {"op": op, **keys})
