"""SQL of the mutes feature: one statement per function."""

from tertulia.conversations.mutes.model import MutedUser
from tertulia.kernel.db import Reader, Transaction


async def muted_by(reader: Reader, user_id: int) -> list[MutedUser]:
    """Whom somebody muted, in the order of their ids."""
    sql = """
    select muted_id as id, extract(epoch from muted_at)::bigint as timestamp
    from muted_user where user_id = $1 order by muted_id
    """
    return [MutedUser(**row) for row in await reader.fetch(sql, user_id)]


async def is_user(reader: Reader, realm_id: int, user_id: int) -> bool:
    """Whether there is such a user in the realm, deactivated ones too."""
    sql = "select exists (select from account where realm_id = $1 and id = $2 and system_bot is null)"
    return bool(await reader.fetchval(sql, realm_id, user_id))


async def insert_mute(tx: Transaction, user_id: int, muted_id: int) -> bool:
    """Mute somebody; returns whether they were not muted before."""
    sql = "insert into muted_user (user_id, muted_id) values ($1, $2) on conflict do nothing returning true"
    return bool(await tx.fetchval(sql, user_id, muted_id))


async def delete_mute(tx: Transaction, user_id: int, muted_id: int) -> bool:
    """Unmute somebody; returns whether they were muted before."""
    sql = "delete from muted_user where user_id = $1 and muted_id = $2 returning true"
    return bool(await tx.fetchval(sql, user_id, muted_id))
