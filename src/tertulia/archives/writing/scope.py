"""What an export may hold: conversations, as far as they may be read, and people whose private data it has."""

from datetime import datetime
from typing import NamedTuple

from tertulia.archives.form.manifest import Scope
from tertulia.archives.writing.mine import statements as mine
from tertulia.archives.writing.statements import PARAMETERS
from tertulia.kernel.db import Connection

# Numbers: null stands for all of them.
_ALLOWED = """
with willing as materialized (
    select id from account where $2 and realm_id = $1 and bot_type is null and is_active
        and settings->>'allow_private_data_export' = 'true' and ($3::timestamptz is null or consented <= $3)
)
select id, null::text as numbers from channel where realm_id = $1 and not invite_only
union all
select id, numbers::text from (
    select channel.id, case
        when history_public_to_subscribers and exists (
            select from subscription join willing on willing.id = user_id
            where channel_id = channel.id and subscription.is_active
        ) then null
        else coalesce((
            select range_agg(part) from read_state join willing on willing.id = user_id, unnest(history) as part
            where conversation_id = channel.id
        ), '{}') end as numbers
    from channel where realm_id = $1 and invite_only
) as closed where numbers is null or not isempty(numbers)
union all
select id, null from conversation
where realm_id = $1 and participants && array(select id from willing)
"""
_WILLING = """
select account.id from account left join account as owner on owner.id = account.bot_owner_id
where $2 and account.realm_id = $1 and coalesce(owner.bot_type, case when owner.id is null then account.bot_type end) is null
    and coalesce(owner.is_active, account.is_active)
    and coalesce(owner.settings, account.settings)->>'allow_private_data_export' = 'true'
    and ($3::timestamptz is null or coalesce(owner.consented, account.consented) <= $3)
"""


class Asked(NamedTuple):
    """What is exported, and how much of it."""

    realm_id: int
    scope: Scope
    user_id: int = 0
    """Whose own data it is, if it is `mine`."""
    agreed_by: datetime | None = None
    """Who agreed later is left out; None: nobody is."""


class Allowed(NamedTuple):
    """What the statements ask; None: everything."""

    conversations: list[int] | None
    numbers: list[str | None] | None
    people: list[int] | None
    known: list[int] | None = None
    """Of the others, who is named at all."""
    messages: list[int] | None = None
    """These and no others, whatever is said of conversations."""


async def find_allowed(connection: Connection, asked: Asked) -> Allowed:
    """Of those who agree: what they see of private conversations, and what is their own. Their bots are theirs."""
    realm_id, scope = asked.realm_id, asked.scope
    if scope in ("everything", "moving"):
        return Allowed(None, None, None)
    if scope == "mine":
        return await _find_mine(connection, realm_id, asked.user_id)
    asks = (realm_id, scope == "consenting", asked.agreed_by)
    rows = await connection.fetch(_ALLOWED, *asks)
    people = await connection.fetch(_WILLING, *asks)
    return Allowed([row["id"] for row in rows], [row["numbers"] for row in rows], [row["id"] for row in people])


async def _find_mine(connection: Connection, realm_id: int, user_id: int) -> Allowed:
    named = [row["id"] for row in await connection.fetch(mine.CHANNELS_NAMED, realm_id, user_id)]
    rows = await connection.fetch(mine.CONVERSATIONS, realm_id, user_id)
    conversations = list(dict.fromkeys([*named, *(row["id"] for row in rows)]))
    messages = [id for row in rows for id in row["message_ids"]]
    own = Allowed(conversations, ["{}"] * len(conversations), [user_id], None, messages)
    known = await connection.fetch(PARAMETERS + mine.KNOWN, realm_id, *own)
    return own._replace(known=[row["id"] for row in known])
