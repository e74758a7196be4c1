"""SQL of the bots feature: one statement per function."""

import asyncpg
from msgspec import UNSET, UnsetType

from tertulia.kernel.auth import Caller, Role
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.sealing import SealedColumn, Sealer
from tertulia.organization.groups.visibility import knows_of
from tertulia.people.bots.model import Bot, OwnBot, Service, own_bot, without_tokens

TOKEN = SealedColumn("bot_service", "token", row="user_id", is_text=True)

# The names of channels are for who knows of these channels: whoever was removed from a private one may still own the bot.
_BOTS = f"""
select account.id as user_id, account.bot_owner_id, base_url, interface, token,
    case when {{reader}}::bigint is null or {knows_of("reader", "sending")} then sending.name end as sending,
    case when {{reader}}::bigint is null or {knows_of("reader", "register")} then register.name end as register,
    coalesce(all_public_channels, false) as all_public
from account left join bot_service on bot_service.user_id = account.id
left join bot_default on bot_default.user_id = account.id
left join channel as sending on sending.id = sending_channel_id
left join channel as register on register.id = register_channel_id
left join account as reader on reader.id = {{reader}}
"""


async def bots_seen_by(reader: Reader, caller: Caller) -> list[Bot]:
    """Whose settings the caller sees: administrators those of all bots, others those of their own. Deactivated ones too.

    The token of a bot's server is for its owner.
    """
    sql = f"""
    {_BOTS.format(reader="$3")}
    where account.realm_id = $1 and account.bot_type is not null and account.system_bot is null
        and ($2 or account.bot_owner_id = $3)
    order by account.id
    """
    is_administrator = caller.role <= Role.ADMINISTRATOR
    rows = await reader.fetch(sql, caller.realm_id, is_administrator, caller.user_id)
    found = [(row["bot_owner_id"], _bot(row, reader.sealer)) for row in rows]
    return [bot if owner_id == caller.user_id else without_tokens(bot) for owner_id, bot in found]


async def get_bot(reader: Reader, user_id: int, *, seen_by: int | None = None) -> Bot:
    """The settings of a bot that exists; as they are, or as somebody sees them."""
    row = await reader.fetchrow(f"{_BOTS.format(reader='$2')} where account.id = $1", user_id, seen_by)
    assert row is not None
    return _bot(row, reader.sealer)


async def set_signed_only(tx: Transaction, user_id: int, *, signed_only: bool) -> None:
    """Whether the bot's key alone is not enough to send."""
    await tx.execute("update account set signed_only = $2 where id = $1", user_id, signed_only)


def _bot(row: asyncpg.Record, sealer: Sealer) -> Bot:
    services = []
    if row["base_url"] is not None:
        services = [Service(row["base_url"], row["interface"], sealer.find_text(TOKEN, row["token"]))]
    return Bot(row["user_id"], services, row["sending"], row["register"], row["all_public"])


async def active_bots_of(reader: Reader, owner_id: int) -> list[OwnBot]:
    """A person's own bots."""
    sql = f"""
    select account.id as user_id, account.email, account.full_name, account.bot_type, avatar_url(account),
        case when {knows_of("owner", "sending")} then sending.name end as sending,
        case when {knows_of("owner", "register")} then register.name end as register,
        coalesce(all_public_channels, false) as all_public
    from account join account as owner on owner.id = account.bot_owner_id
    left join bot_default on bot_default.user_id = account.id
    left join channel as sending on sending.id = sending_channel_id
    left join channel as register on register.id = register_channel_id
    where account.bot_owner_id = $1 and account.is_active order by account.id
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
    await tx.execute(sql, user_id, service.base_url, service.interface, tx.sealer.seal_text(TOKEN, service.token))


async def put_token(tx: Transaction, user_id: int, token: str) -> None:
    """What the bot shows to its server from now on."""
    sql = "update bot_service set token = $2 where user_id = $1"
    await tx.execute(sql, user_id, tx.sealer.seal_text(TOKEN, token))


async def avatar_of(reader: Reader, user_id: int) -> str:
    """Where the bot's picture is."""
    return str(await reader.fetchval("select avatar_url(account) from account where id = $1", user_id))


async def put_defaults(
    tx: Transaction,
    user_id: int,
    sending: int | UnsetType | None,
    register: int | UnsetType | None,
    all_public: bool | UnsetType,
) -> None:
    """Write a bot's defaults; UNSET: as they are."""
    sql = """
    insert into bot_default as known (user_id, sending_channel_id, register_channel_id, all_public_channels)
    values ($1, $3, $5, $7) on conflict (user_id) do update set
        sending_channel_id = case when $2 then $3 else known.sending_channel_id end,
        register_channel_id = case when $4 then $5 else known.register_channel_id end,
        all_public_channels = case when $6 then $7 else known.all_public_channels end
    """
    wanted = [(given is not UNSET, None if given is UNSET else given) for given in (sending, register)]
    flag = (all_public is not UNSET, all_public is True)
    await tx.execute(sql, user_id, *wanted[0], *wanted[1], *flag)


async def bots_naming(reader: Reader, channel_id: int) -> list[tuple[int | None, Bot, Bot]]:
    """The bots whose defaults name a channel: the owner of each, the bot as it is, and as its owner sees it."""
    naming = "where $1 in (sending_channel_id, register_channel_id) order by account.id"
    rows = await reader.fetch(f"{_BOTS.format(reader='null')} {naming}", channel_id)
    seen_rows = await reader.fetch(f"{_BOTS.format(reader='account.bot_owner_id')} {naming}", channel_id)
    # Between the two an owner may have chosen another channel: who names it no longer needs not be told of it.
    seen = {row["user_id"]: _bot(row, reader.sealer) for row in seen_rows}
    return [
        (row["bot_owner_id"], _bot(row, reader.sealer), seen[row["user_id"]]) for row in rows if row["user_id"] in seen
    ]


async def sending_channel_of(reader: Reader, user_id: int) -> int | None:
    """Where a bot sends when it names no channel."""
    found: int | None = await reader.fetchval("select sending_channel_id from bot_default where user_id = $1", user_id)
    return found
