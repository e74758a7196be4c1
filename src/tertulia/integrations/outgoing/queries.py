"""SQL of outgoing webhooks: one statement per function."""

from collections.abc import Sequence

import asyncpg

from tertulia.integrations.outgoing.model import Claimed
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.freezing import is_frozen
from tertulia.people.users.authentication.queries import OWNER_COLUMNS
from tertulia.people.users.handover import Handed

_CLAIM = f"""
with due as (
    select message_id, bot_id, coalesce(bot_owner_id, bot_id) as owner_id, realm_id
    from hook_call join account on account.id = bot_id
    where due <= now() and bot_id <> all($2::bigint[]) and coalesce(bot_owner_id, bot_id) <> all($3::bigint[])
        and realm_id <> all($4::bigint[]) and not {is_frozen("account.realm_id")}
    order by due, message_id limit $1 for update of hook_call skip locked
)
update hook_call set attempts = hook_call.attempts + 1, due = now() + make_interval(secs => $5)
from due where hook_call.message_id = due.message_id and hook_call.bot_id = due.bot_id
returning hook_call.bot_id, hook_call.message_id, due.owner_id, due.realm_id
"""

_CALL = f"""
select hook_call.message_id, hook_call.attempts, nullif(base_url, '') as base_url, interface, token, bot_owner_id, {OWNER_COLUMNS}
from hook_call join account on account.id = hook_call.bot_id join realm on realm.id = account.realm_id
left join bot_service on bot_service.user_id = account.id
where hook_call.bot_id = $1 and hook_call.message_id = $2
"""


async def insert_calls(tx: Transaction, calls: Sequence[tuple[int, int]], limit: int, of_owner: int) -> int:
    """Bots, each with a message that calls it; as long as so many calls of a bot wait at most, and about so many of all bots of
    their owner. Returns how many there are."""
    sql = """
    with addressed as (
        select bot_id, message_id, owner_id, row_number() over (partition by bot_id order by message_id) as number,
            row_number() over (partition by owner_id order by message_id, bot_id) as own_number
        from unnest($1::bigint[], $2::bigint[]) as addressed(bot_id, message_id)
        join (select id as bot_id, coalesce(bot_owner_id, id) as owner_id from account) as bot using (bot_id)
    ), waiting as (
        select bot_id, (select count(*) from (select from hook_call where bot_id = bot.bot_id limit $3) as counted) as count
        from (select distinct bot_id from addressed) as bot
    ), owned as (
        select owner_id, (select count(*) from (
            select from account join hook_call on hook_call.bot_id = account.id
            where account.id = owner.owner_id or account.bot_owner_id = owner.owner_id limit $4) as counted) as own_count
        from (select distinct owner_id from addressed) as owner
    )
    insert into hook_call (bot_id, message_id)
    select bot_id, message_id from addressed join waiting using (bot_id) join owned using (owner_id)
    where waiting.count + number <= $3 and own_count + own_number <= $4
    order by message_id, bot_id on conflict do nothing returning true
    """
    bots, messages = [bot_id for bot_id, _ in calls], [message_id for _, message_id in calls]
    return len(await tx.fetch(sql, bots, messages, limit, of_owner))


async def claim(tx: Transaction, limit: int, busy: Sequence[Sequence[int]], seconds: float) -> list[Claimed]:
    """Calls that are due, except those of busy bots, owners and realms, taken for so many seconds."""
    return [Claimed(**row) for row in await tx.fetch(_CLAIM, limit, *busy, seconds)]


async def find_call(reader: Reader, bot_id: int, message_id: int) -> asyncpg.Record | None:
    """A call with its bot and where that one's server is."""
    return await reader.fetchrow(_CALL, bot_id, message_id)


async def put_off(tx: Transaction, bot_id: int, message_id: int, seconds: float) -> None:
    """Make it again a little later."""
    sql = "update hook_call set due = now() + make_interval(secs => $3) where bot_id = $1 and message_id = $2"
    await tx.execute(sql, bot_id, message_id, seconds)


async def delete_call(tx: Transaction, bot_id: int, message_id: int) -> bool:
    """Delete a call; returns whether it was there: another worker may have been faster."""
    sql = "delete from hook_call where bot_id = $1 and message_id = $2 returning true"
    return bool(await tx.fetchval(sql, bot_id, message_id))


async def take_all(tx: Transaction, handed: Handed) -> None:
    """The server of a bot that gets another owner is not called for what was sent before."""
    await tx.execute("delete from hook_call where bot_id = $1", handed.bot_id)
