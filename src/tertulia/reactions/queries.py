"""SQL of reactions: one statement per function."""

from tertulia.custom_emoji.model import Emoji
from tertulia.kernel.db import Reader, Transaction
from tertulia.messages.queries import is_possible_id

_COLUMNS = "emoji_name, emoji_code, reaction_type"


async def find_first(reader: Reader, message_id: int, code: str, reaction_type: str) -> Emoji | None:
    """The reaction with this emoji that came first."""
    sql = f"""
    select {_COLUMNS} from reaction where message_id = $1 and reaction_type = $2 and emoji_code = $3
    order by reacted_at, user_id limit 1
    """
    row = await reader.fetchrow(sql, message_id, reaction_type, code)
    return Emoji(**row) if row else None


async def reactions_of(reader: Reader, message_id: int, user_id: int) -> list[Emoji]:
    """What somebody put to a message."""
    sql = f"select {_COLUMNS} from reaction where message_id = $1 and user_id = $2 order by reacted_at"
    return [Emoji(**row) for row in await reader.fetch(sql, message_id, user_id)]


async def insert_reaction(tx: Transaction, message_id: int, user_id: int, emoji: Emoji) -> bool:
    """Whether it was not there before."""
    sql = f"""
    insert into reaction (message_id, user_id, {_COLUMNS}) values ($1, $2, $3, $4, $5)
    on conflict do nothing returning true
    """
    values = emoji.emoji_name, emoji.emoji_code, emoji.reaction_type
    return bool(await tx.fetchval(sql, message_id, user_id, *values))


async def delete_reaction(tx: Transaction, message_id: int, user_id: int, emoji: Emoji) -> None:
    """Take one back that is there."""
    sql = """
    delete from reaction where message_id = $1 and user_id = $2 and reaction_type = $3 and emoji_code = $4
    """
    await tx.execute(sql, message_id, user_id, emoji.reaction_type, emoji.emoji_code)


async def hold_topic_of(tx: Transaction, message_id: int) -> int | None:
    """Hold the topic of a message against those who move or remove topics; None of a direct message."""
    sql = """
    select topic.id from message join topic on topic.id = message.topic_id where message.id = $1 for key share of topic
    """
    found: int | None = await tx.fetchval(sql, message_id) if is_possible_id(message_id) else None
    return found


async def insert_participant(tx: Transaction, topic_id: int, user_id: int) -> None:
    """Somebody takes part in a topic."""
    sql = "insert into topic_participant (topic_id, user_id) values ($1, $2) on conflict do nothing"
    await tx.execute(sql, topic_id, user_id)


async def is_muted(reader: Reader, channel_id: int, user_id: int) -> bool:
    """Whether somebody is subscribed to a channel and muted it."""
    sql = "select is_muted and is_active from subscription where channel_id = $1 and user_id = $2"
    return bool(await reader.fetchval(sql, channel_id, user_id))
