"""SQL of widgets: one statement per function."""

from typing import NamedTuple

from tertulia.kernel.db import Reader, Transaction


class Totals(NamedTuple):
    """What a widget has been told: how often, how many bytes; and by one person."""

    number: int
    size: int
    own_number: int
    own_size: int


async def find_opening(reader: Reader, message_id: int, sender_id: int) -> tuple[str, Totals] | None:
    """The first submessage of a message, and how much came after it. The newest rows know, so the cost does not grow."""
    sql = """
    select content, newest.number, newest.size, coalesce(own.own_number, 0) as own_number, coalesce(own.own_size, 0) as own_size
    from (select content from submessage where message_id = $1 order by id limit 1) as opening
    cross join (select number, size from submessage where message_id = $1 order by id desc limit 1) as newest
    left join (
        select own_number, own_size from submessage where message_id = $1 and sender_id = $2 order by id desc limit 1
    ) as own on true
    """
    row = await reader.fetchrow(sql, message_id, sender_id)
    return None if row is None else (row[0], Totals(*list(row)[1:]))


async def insert_submessage(
    tx: Transaction, message_id: int, sender_id: int, msg_type: str, content: str, totals: Totals
) -> int:
    """Insert a submessage, with the totals that include it; returns its id."""
    sql = """
    insert into submessage (message_id, sender_id, msg_type, content, number, size, own_number, own_size)
    values ($1, $2, $3, $4, $5, $6, $7, $8) returning id
    """
    return int(await tx.fetchval(sql, message_id, sender_id, msg_type, content, *totals))
