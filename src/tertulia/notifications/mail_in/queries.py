"""SQL of addresses: one statement per function."""

import asyncpg

from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.ids import digest_of_key
from tertulia.kernel.sealing import SealedColumn
from tertulia.notifications.mail_in.model import Target
from tertulia.people.users.authentication.queries import OWNER_COLUMNS, owner_of
from tertulia.people.users.handover import Handed

REPLY_DAYS = 30
"""So long a mail can be answered."""
TOKEN = SealedColumn("channel_address", "token", row="id", is_text=True)


async def insert_reply_address(tx: Transaction, token: str, user_id: int, message_id: int) -> None:
    """Where an answer goes: to where this message is now, as this person."""
    sql = """
    insert into reply_address (digest, user_id, conversation_id, topic_id, topic, expires)
    select $1, $2, message.conversation_id, topic.id, topic.name, now() + make_interval(days => $4)
    from message left join topic on topic.id = message.topic_id where message.id = $3
    """
    await tx.execute(sql, digest_of_key(token), user_id, message_id, REPLY_DAYS)


async def find_target(reader: Reader, token: str) -> Target | None:
    """What an address leads to, and as whom; None: to nothing, or not any more."""
    sql = f"""
    with found as (
        select user_id as writer_id, reply_address.conversation_id, coalesce(topic.name, reply_address.topic) as topic,
            true as is_reply
        from reply_address left join topic on topic.id = topic_id and topic.conversation_id = reply_address.conversation_id
        where digest = $1 and expires > now()
        union all
        select sender_id, channel_id, null, false from channel_address where digest = $1
    )
    select found.conversation_id, found.topic, is_reply, conversation.participants, channel.topics_policy, {OWNER_COLUMNS}
    from found join account on account.id = writer_id join realm on realm.id = account.realm_id
    join conversation on conversation.id = found.conversation_id
    left join channel on channel.id = found.conversation_id
    """
    row = await reader.fetchrow(sql, digest_of_key(token))
    return None if row is None else _target(row)


def _target(row: asyncpg.Record) -> Target | None:
    owner = owner_of(row)
    if not (owner.is_active and owner.realm_is_active):
        return None
    return Target(
        caller=owner.caller,
        conversation_id=row["conversation_id"],
        topic=row["topic"],
        participants=None if row["participants"] is None else tuple(row["participants"]),
        is_reply=row["is_reply"],
        topics_policy=row["topics_policy"] or "inherit",
    )


async def put_channel_address(tx: Transaction, channel_id: int, sender_id: int, token: str) -> None:
    """The address of a channel, from now on this one."""
    sql = """
    insert into channel_address (channel_id, sender_id, digest, token) values ($1, $2, $3, $4)
    on conflict (channel_id, sender_id) do update set digest = excluded.digest, token = excluded.token
    """
    await tx.execute(sql, channel_id, sender_id, digest_of_key(token), tx.sealer.seal_text(TOKEN, token))


async def find_channel_token(reader: Reader, channel_id: int, sender_id: int) -> str:
    """What is in the address of a channel; empty: it has none."""
    sql = "select token from channel_address where channel_id = $1 and sender_id = $2"
    found = await reader.fetchval(sql, channel_id, sender_id)
    return "" if found is None else reader.sealer.find_text(TOKEN, found)


async def delete_channel_address(tx: Transaction, channel_id: int, sender_id: int) -> None:
    """Nothing is taken in there any more."""
    await tx.execute("delete from channel_address where channel_id = $1 and sender_id = $2", channel_id, sender_id)


async def take_addresses(tx: Transaction, handed: Handed) -> None:
    """A bot that gets another owner has none: the former one knows them."""
    await tx.execute("delete from channel_address where sender_id = $1", handed.bot_id)


async def delete_old(tx: Transaction, limit: int) -> int:
    """Addresses that have expired; returns how many."""
    sql = """
    delete from reply_address where digest in (
        select digest from reply_address where expires < now() limit $1 for update skip locked
    )
    """
    return int((await tx.execute(sql, limit)).split()[-1])
