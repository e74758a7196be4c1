"""SQL of the bots feature: one statement per function."""

import asyncpg

from tertulia.bots.model import Bot, OwnBot, Service, own_bot
from tertulia.kernel.auth import Caller, Role
from tertulia.kernel.db import Reader, Transaction

_BOTS = """
select account.id as user_id, base_url, interface, token
from account left join bot_service on bot_service.user_id = account.id
"""


async def bots_seen_by(reader: Reader, caller: Caller) -> list[Bot]:
    """Whose settings the caller sees: administrators those of all bots, others those of their own. Deactivated ones too."""
    sql = f"""
    {_BOTS} where realm_id = $1 and bot_type is not null and system_bot is null and ($2 or bot_owner_id = $3)
    order by account.id
    """
    is_administrator = caller.role <= Role.ADMINISTRATOR
    return [_bot(row) for row in await reader.fetch(sql, caller.realm_id, is_administrator, caller.user_id)]


async def get_bot(reader: Reader, user_id: int) -> Bot:
    """The settings of a bot that exists."""
    row = await reader.fetchrow(f"{_BOTS} where account.id = $1", user_id)
    assert row is not None
    return _bot(row)


def _bot(row: asyncpg.Record) -> Bot:
    services = [] if row["base_url"] is None else [Service(row["base_url"], row["interface"], row["token"])]
    return Bot(row["user_id"], services)


async def active_bots_of(reader: Reader, owner_id: int) -> list[OwnBot]:
    """A person's own bots."""
    sql = """
    select id as user_id, email, full_name, bot_type, avatar_version
    from account where bot_owner_id = $1 and is_active order by id
    """
    return [own_bot(**row) for row in await reader.fetch(sql, owner_id)]


async def administrator_ids(reader: Reader, realm_id: int) -> set[int]:
    """Who hears of every bot."""
    sql = "select id from account where realm_id = $1 and role <= $2 and is_active"
    return {row["id"] for row in await reader.fetch(sql, realm_id, Role.ADMINISTRATOR)}


async def put_service(tx: Transaction, user_id: int, service: Service) -> None:
    """Where the bot sends what it hears from now on."""
    sql = """
    insert into bot_service (user_id, base_url, interface, token) values ($1, $2, $3, $4)
    on conflict (user_id) do update set base_url = excluded.base_url, interface = excluded.interface
    """
    await tx.execute(sql, user_id, service.base_url, service.interface, service.token)


async def avatar_version_of(reader: Reader, user_id: int) -> int:
    """The number of the bot's picture."""
    return int(await reader.fetchval("select avatar_version from account where id = $1", user_id))
