"""SQL of widgets: one statement per function."""

from tertulia.kernel.db import Reader, Transaction


async def find_opening(reader: Reader, message_id: int) -> str | None:
    """The first submessage of a message."""
    sql = "select content from submessage where message_id = $1 order by id limit 1"
    found: str | None = await reader.fetchval(sql, message_id)
    return found


async def insert_submessage(tx: Transaction, message_id: int, sender_id: int, msg_type: str, content: str) -> int:
    """A new submessage; its id."""
    sql = "insert into submessage (message_id, sender_id, msg_type, content) values ($1, $2, $3, $4) returning id"
    return int(await tx.fetchval(sql, message_id, sender_id, msg_type, content))
