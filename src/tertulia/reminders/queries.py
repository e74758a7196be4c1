"""SQL of reminders: one statement per function."""

from tertulia.kernel.db import Reader, Transaction
from tertulia.reminders.model import Reminder

_COLUMNS = "id, realm_id, user_id, message_id, content, note, rendered, extract(epoch from due)::bigint as due"


async def reminders_of(reader: Reader, user_id: int) -> list[Reminder]:
    """Somebody's reminders, by their time."""
    sql = f"select {_COLUMNS} from reminder where user_id = $1 order by reminder.due, id"
    return [Reminder(**row) for row in await reader.fetch(sql, user_id)]


async def insert_reminder(tx: Transaction, new: Reminder) -> Reminder:
    """A new reminder."""
    sql = f"""
    insert into reminder (realm_id, user_id, message_id, content, note, rendered, due)
    values ($1, $2, $3, $4, $5, $6, to_timestamp($7)) returning {_COLUMNS}
    """
    row = await tx.fetchrow(
        sql, new.realm_id, new.user_id, new.message_id, new.content, new.note, new.rendered, new.due
    )
    assert row is not None
    return Reminder(**row)


async def delete_reminder(tx: Transaction, user_id: int, reminder_id: int) -> bool:
    """Whether it was there and theirs."""
    sql = "delete from reminder where user_id = $1 and id = $2 returning true"
    return bool(await tx.fetchval(sql, user_id, reminder_id))


async def take_due(tx: Transaction, limit: int) -> list[Reminder]:
    """Take reminders off the list whose time has come; those others hold are passed over."""
    sql = f"""
    delete from reminder where id in (
        select id from reminder where due <= now() order by due, id limit $1 for update skip locked
    ) returning {_COLUMNS}
    """
    return [Reminder(**row) for row in await tx.fetch(sql, limit)]
