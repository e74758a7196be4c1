"""Who takes part in a topic: whoever wrote or reacted there. One statement per function; sending adds its own by itself."""

from collections.abc import Sequence

from tertulia.kernel.db import Reader, Transaction


async def add_participants(tx: Transaction, topic_id: int, user_ids: Sequence[int]) -> None:
    """These users take part in a topic."""
    sql = """
    insert into topic_participant (topic_id, user_id) select $1, user_id from unnest($2::bigint[]) as part(user_id)
    order by user_id on conflict do nothing
    """
    await tx.execute(sql, topic_id, user_ids)


async def forget_participants(tx: Transaction, topic_id: int, user_ids: Sequence[int]) -> None:
    """Those of the users who neither wrote nor reacted in the topic any more take no part in it.

    Only its newest messages are looked at: in a larger topic whoever took part stays.
    """
    sql = """
    with newest as materialized (
        select id, sender_id from message where topic_id = $1 order by id desc limit 10001
    )
    delete from topic_participant where topic_id = $1 and user_id = any($2::bigint[])
        and (select count(*) from newest) <= 10000
        and not exists (select from newest where sender_id = topic_participant.user_id)
        and not exists (
            select from newest join reaction on reaction.message_id = newest.id
            where reaction.user_id = topic_participant.user_id
        )
    """
    await tx.execute(sql, topic_id, user_ids)


async def participants_by(reader: Reader, message_ids: Sequence[int]) -> list[int]:
    """Who wrote these messages or reacted to them."""
    sql = """
    select sender_id as user_id from message where id = any($1::bigint[])
    union select user_id from reaction where message_id = any($1::bigint[]) order by user_id
    """
    return [row["user_id"] for row in await reader.fetch(sql, message_ids)]
