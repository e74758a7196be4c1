"""SQL of pins: one statement per function."""

from collections.abc import Sequence

import msgspec

from tertulia.kernel.db import Reader, Transaction


class PinRecord(msgspec.Struct, frozen=True):
    """A pinned message."""

    message_id: int
    pinned_at: int
    """Seconds."""


async def is_pinned(reader: Reader, message_id: int, conversation_id: int, topic_id: int | None) -> bool:
    """Whether a message is pinned where it is."""
    sql = """
    select true from pin where message_id = $1 and conversation_id = $2 and topic_id is not distinct from $3::bigint
    """
    return bool(await reader.fetchval(sql, message_id, conversation_id, topic_id))


async def hold_topic(tx: Transaction, topic_id: int) -> str:
    """The name of a topic, which it keeps until this is over."""
    return str(await tx.fetchval("select name from topic where id = $1 for key share", topic_id))


async def insert_pin(tx: Transaction, message_id: int, conversation_id: int, topic_id: int | None) -> int:
    """Pin a message where it is; returns when. A program of the version before may have moved it without its pin."""
    sql = """
    insert into pin (message_id, conversation_id, topic_id) values ($1, $2, $3)
    on conflict (message_id) do update set conversation_id = excluded.conversation_id, topic_id = excluded.topic_id
    returning extract(epoch from pinned_at)::bigint
    """
    return int(await tx.fetchval(sql, message_id, conversation_id, topic_id))


async def delete_pin(tx: Transaction, message_id: int) -> bool:
    """Unpin a message; returns whether it was pinned."""
    return bool(await tx.fetchval("delete from pin where message_id = $1 returning true", message_id))


async def pins_of(reader: Reader, conversation_id: int, topic_id: int | None, most: int) -> list[PinRecord]:
    """The pins of a topic, or of a direct conversation, the newest first."""
    place = "conversation_id = $1 and topic_id is null" if topic_id is None else "topic_id = $1"
    sql = f"""
    select message_id, extract(epoch from pinned_at)::bigint as pinned_at from pin where {place}
    order by pin.pinned_at desc, message_id desc limit $2
    """
    owner = conversation_id if topic_id is None else topic_id
    return [PinRecord(**row) for row in await reader.fetch(sql, owner, most)]


async def follow_messages(tx: Transaction, message_ids: Sequence[int]) -> None:
    """Pins of messages that were moved are where these are now. A statement of its own, after the move: while it waited for a
    message, somebody may have pinned it."""
    sql = """
    update pin set conversation_id = message.conversation_id, topic_id = message.topic_id
    from message where message.id = pin.message_id and pin.message_id = any($1::bigint[])
    """
    await tx.execute(sql, message_ids)
