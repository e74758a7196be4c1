"""SQL of reactions: one statement per function."""

from typing import NamedTuple

from tertulia.kernel.db import Reader, Transaction
from tertulia.messaging.reading.queries import is_possible_id
from tertulia.organization.custom_emoji.model import Emoji

_COLUMNS = "emoji_name, emoji_code, reaction_type"


class Counts(NamedTuple):
    """How many reactions a message has: in all, different emoji, of one person."""

    total: int
    emoji: int
    own: int


async def find_first(
    reader: Reader, message_id: int, user_id: int, code: str, reaction_type: str
) -> tuple[Emoji | None, Counts]:
    """The reaction with this emoji that came first, and how many there are; bounds keep them few."""
    sql = f"""
    with found as materialized (
        select {_COLUMNS}, user_id, reacted_at from reaction where message_id = $1
    )
    select first.*, counted.* from (
        select count(*), count(distinct (reaction_type, emoji_code)), count(*) filter (where user_id = $2) from found
    ) as counted left join (
        select {_COLUMNS} from found where reaction_type = $3 and emoji_code = $4 order by reacted_at, user_id limit 1
    ) as first on true
    """
    row = await reader.fetchrow(sql, message_id, user_id, reaction_type, code)
    assert row is not None
    values = list(row)
    return Emoji(*values[:3]) if values[0] is not None else None, Counts(*values[3:])


async def reactions_of(reader: Reader, message_id: int, user_id: int) -> list[Emoji]:
    """What somebody put to a message."""
    sql = f"select {_COLUMNS} from reaction where message_id = $1 and user_id = $2 order by reacted_at"
    return [Emoji(**row) for row in await reader.fetch(sql, message_id, user_id)]


async def insert_reaction(tx: Transaction, message_id: int, user_id: int, emoji: Emoji) -> bool:
    """Insert a reaction; returns whether it was not there before."""
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


async def is_muted(reader: Reader, channel_id: int, user_id: int) -> bool:
    """Whether somebody is subscribed to a channel and muted it."""
    sql = "select is_muted and is_active from subscription where channel_id = $1 and user_id = $2"
    return bool(await reader.fetchval(sql, channel_id, user_id))
