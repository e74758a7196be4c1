"""SQL of scheduled messages: one statement per function."""

from collections.abc import Sequence

import asyncpg

from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.freezing import is_frozen
from tertulia.messaging.scheduled.model import Scheduled
from tertulia.people.users.authentication.queries import OWNER_COLUMNS
from tertulia.people.users.handover import Handed

_COLUMNS = """
scheduled_message.id, scheduled_message.channel_id, scheduled_message.user_ids, scheduled_message.topic,
scheduled_message.content, scheduled_message.rendered, scheduled_message.client, scheduled_message.read,
extract(epoch from scheduled_message.due)::bigint as due, scheduled_message.failed, scheduled_message.version
"""


async def scheduled_by(reader: Reader, user_id: int) -> list[Scheduled]:
    """Somebody's scheduled messages, by the time they are due."""
    sql = f"select {_COLUMNS} from scheduled_message where user_id = $1 order by due, id"
    return [Scheduled(**row) for row in await reader.fetch(sql, user_id)]


async def find_scheduled(reader: Reader, user_id: int, scheduled_id: int) -> Scheduled | None:
    """The message, if it is theirs and not sent."""
    sql = f"select {_COLUMNS} from scheduled_message where user_id = $1 and id = $2"
    row = await reader.fetchrow(sql, user_id, scheduled_id)
    return Scheduled(**row) if row else None


async def insert_scheduled(tx: Transaction, realm_id: int, user_id: int, new: Scheduled) -> int:
    """Insert a scheduled message; returns its id."""
    sql = """
    insert into scheduled_message
        (realm_id, user_id, channel_id, user_ids, topic, content, rendered, client, read, due)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, to_timestamp($10)) returning id
    """
    return int(
        await tx.fetchval(
            sql, realm_id, user_id, new.channel_id, new.user_ids, new.topic, new.content, new.rendered, new.client,
            new.read, new.due,
        )
    )  # fmt: skip


async def update_scheduled(tx: Transaction, user_id: int, new: Scheduled) -> bool:
    """Whether it was still what it was when it was judged; it is no longer failed then."""
    sql = """
    update scheduled_message set channel_id = $4, user_ids = $5, topic = $6, content = $7, rendered = $8, read = $9,
        due = to_timestamp($10), failed = false, version = version + 1
    where user_id = $1 and id = $2 and version = $3 returning true
    """
    return bool(
        await tx.fetchval(
            sql, user_id, new.id, new.version, new.channel_id, new.user_ids, new.topic, new.content, new.rendered,
            new.read, new.due,
        )
    )  # fmt: skip


async def delete_scheduled(tx: Transaction, scheduled_ids: Sequence[int], user_id: int | None = None) -> bool:
    """Whether they, or some of them, were there; only somebody's own if it says whose."""
    sql = """
    delete from scheduled_message where id = any($1::bigint[]) and ($2::bigint is null or user_id = $2) returning true
    """
    return bool(await tx.fetch(sql, scheduled_ids, user_id))


async def fail_scheduled(tx: Transaction, scheduled_ids: Sequence[int]) -> None:
    """They were tried and could not be sent."""
    sql = "update scheduled_message set failed = true, version = version + 1 where id = any($1::bigint[])"
    await tx.execute(sql, scheduled_ids)


_CLAIM = f"""
with waiting as (
    select scheduled_message.id, due, row_number() over own as place, sum(octet_length(rendered)) over (
        own rows between unbounded preceding and 1 preceding) as bytes_before
    from scheduled_message join account on account.id = user_id
    where not failed and due <= now() and not {is_frozen("scheduled_message.realm_id")}
    window own as (partition by coalesce(bot_owner_id, user_id) order by due, scheduled_message.id)
), turn as materialized (
    select id from waiting where coalesce(bytes_before, 0) < $3 order by place, due, id limit $1
), claimed as (
    select * from scheduled_message where id in (select id from turn) and not failed and due <= now()
    order by due, id for update skip locked
)
select {_COLUMNS.replace("scheduled_message.", "claimed.")},
    claimed.due < now() - make_interval(secs => $2) as is_late, {OWNER_COLUMNS}
from claimed join account on account.id = claimed.user_id join realm on realm.id = account.realm_id
order by claimed.due, claimed.id
"""


async def claim_due(tx: Transaction, limit: int, of_one: int, late_seconds: float) -> list[asyncpg.Record]:
    """Messages that are due, with their authors, held until the commit; those locked by others are skipped. Of one person, with
    their bots, the first and what follows it within so many bytes; and everybody's first before anybody's second."""
    return await tx.fetch(_CLAIM, limit, late_seconds, of_one)


async def take_all(tx: Transaction, handed: Handed) -> None:
    """A bot that gets another owner sends nothing that was written before."""
    await tx.execute("delete from scheduled_message where user_id = $1", handed.bot_id)
