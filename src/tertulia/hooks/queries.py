"""SQL of outgoing webhooks: one statement per function."""

from collections.abc import Sequence

import asyncpg

from tertulia.hooks.model import Claimed
from tertulia.kernel.db import Reader, Transaction
from tertulia.users.owner_queries import OWNER_COLUMNS

_CLAIM = """
with due as (
    select message_id, bot_id, coalesce(bot_owner_id, bot_id) as owner_id, realm_id
    from hook_call join account on account.id = bot_id
    where due <= now() and bot_id <> all($2::bigint[]) and coalesce(bot_owner_id, bot_id) <> all($3::bigint[])
        and realm_id <> all($4::bigint[])
    order by due, message_id limit $1 for update of hook_call skip locked
)
update hook_call set attempts = hook_call.attempts + 1, due = now() + make_interval(secs => $5)
from due where hook_call.message_id = due.message_id and hook_call.bot_id = due.bot_id
returning hook_call.bot_id, hook_call.message_id, due.owner_id, due.realm_id
"""

_CALL = f"""
select hook_call.message_id, hook_call.attempts, base_url, interface, token, bot_owner_id, {OWNER_COLUMNS}
from hook_call join account on account.id = hook_call.bot_id join realm on realm.id = account.realm_id
left join bot_service on bot_service.user_id = account.id
where hook_call.bot_id = $1 and hook_call.message_id = $2
"""


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
    """Whether it was there: another worker may have been faster."""
    sql = "delete from hook_call where bot_id = $1 and message_id = $2 returning true"
    return bool(await tx.fetchval(sql, bot_id, message_id))
