"""SQL of reminders: one statement per function."""

from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.freezing import is_frozen
from tertulia.messaging.reminders.model import Reminder
from tertulia.people.users.handover import Handed

_COLUMNS = "id, realm_id, user_id, message_id, note, rendered_note, extract(epoch from due)::bigint as due"


async def reminders_of(reader: Reader, user_id: int) -> list[Reminder]:
    """Somebody's reminders, by their time."""
    sql = f"select {_COLUMNS} from reminder where user_id = $1 order by reminder.due, id"
    return [Reminder(**row) for row in await reader.fetch(sql, user_id)]


async def insert_reminder(tx: Transaction, new: Reminder) -> Reminder:
    """Insert a reminder."""
    sql = f"""
    insert into reminder (realm_id, user_id, message_id, note, rendered_note, due)
    values ($1, $2, $3, $4, $5, to_timestamp($6)) returning {_COLUMNS}
    """
    row = await tx.fetchrow(sql, new.realm_id, new.user_id, new.message_id, new.note, new.rendered_note, new.due)
    assert row is not None
    return Reminder(**row)


async def delete_reminder(tx: Transaction, user_id: int, reminder_id: int) -> bool:
    """Delete a reminder; returns whether it was there and theirs."""
    sql = "delete from reminder where user_id = $1 and id = $2 returning true"
    return bool(await tx.fetchval(sql, user_id, reminder_id))


async def take_due(tx: Transaction, limit: int) -> list[Reminder]:
    """Take reminders off the list whose time has come, everybody's first before anybody's second; those locked by others are
    skipped."""
    sql = f"""
    with turn as materialized (
        select id from (
            select id, due, row_number() over (partition by user_id order by due, id) as place from reminder
            where due <= now() and not {is_frozen("reminder.realm_id")}
        ) as own order by place, due, id limit $1
    )
    delete from reminder where id in (
        select id from reminder where id in (select id from turn) order by due, id for update skip locked
    ) returning {_COLUMNS}
    """
    return [Reminder(**row) for row in await tx.fetch(sql, limit)]


async def take_all(tx: Transaction, handed: Handed) -> None:
    """A bot that gets another owner is reminded of nothing."""
    await tx.execute("delete from reminder where user_id = $1", handed.bot_id)
