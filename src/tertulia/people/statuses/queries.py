"""SQL of statuses: one statement per function."""

from collections.abc import Sequence

import msgspec

from tertulia.kernel.db import Reader, Transaction
from tertulia.people.statuses.model import Status, StatusChange

_AWAY = "coalesce(account.settings->>'presence_enabled' = 'false', false)"
_COLUMNS = f"""
account.id as user_id, coalesce(status_text, '') as status_text, coalesce(emoji_name, '') as emoji_name,
coalesce(emoji_code, '') as emoji_code, coalesce(reaction_type, 'unicode_emoji') as reaction_type, {_AWAY} as away
"""


async def statuses(reader: Reader, realm_id: int) -> list[Status]:
    """Everybody of a realm who has a status or is away, by id."""
    sql = f"""
    select {_COLUMNS} from account left join user_status on user_status.user_id = account.id
    where account.realm_id = $1 and account.id in (
        select user_id from user_status join account as owner on owner.id = user_id and owner.realm_id = $1
        where status_text <> '' or emoji_name <> ''
        union all
        select id from account where realm_id = $1 and settings->>'presence_enabled' = 'false'
    ) order by account.id
    """
    return [Status(**row) for row in await reader.fetch(sql, realm_id)]


async def statuses_of(reader: Reader, user_ids: Sequence[int]) -> list[Status]:
    """What these accounts are up to, of those who have ever said anything about it."""
    sql = f"""
    select {_COLUMNS} from account left join user_status on user_status.user_id = account.id
    where account.id = any($1::bigint[]) and (user_status.user_id is not null or account.settings ? 'presence_enabled')
    order by account.id
    """
    return [Status(**row) for row in await reader.fetch(sql, user_ids)]


async def get_status(reader: Reader, user_id: int) -> Status:
    """The status of an account that exists."""
    sql = f"""
    select {_COLUMNS} from account left join user_status on user_status.user_id = account.id where account.id = $1
    """
    row = await reader.fetchrow(sql, user_id)
    assert row is not None
    return Status(**row)


async def change_status(tx: Transaction, user_id: int, change: StatusChange) -> None:
    """Write what is wished for; the rest stays."""
    sql = """
    insert into user_status as old (user_id, status_text, emoji_name, emoji_code, reaction_type)
    values ($1, coalesce($2, ''), coalesce($3, ''), coalesce($4, ''), coalesce($5, 'unicode_emoji'))
    on conflict (user_id) do update set status_text = coalesce($2, old.status_text),
        emoji_name = coalesce($3, old.emoji_name), emoji_code = coalesce($4, old.emoji_code),
        reaction_type = coalesce($5, old.reaction_type)
    """
    emoji = (None,) * 3 if change.emoji is None else msgspec.structs.astuple(change.emoji)
    await tx.execute(sql, user_id, change.status_text, *emoji)
