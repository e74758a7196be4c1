"""SQL of the drafts feature: one statement per function."""

from collections.abc import Sequence

import asyncpg

from tertulia.kernel.db import Reader, Transaction
from tertulia.messaging.drafts.model import Draft, KeptDraft, draft_of
from tertulia.people.users.handover import Handed

_COLUMNS = "id, channel_id, user_ids, topic, content, extract(epoch from edited_at)::bigint as timestamp"


def _draft(row: asyncpg.Record) -> Draft:
    users = row["user_ids"]
    kept = KeptDraft(row["channel_id"], None if users is None else tuple(users), row["topic"], row["content"], None)
    return draft_of(row["id"], kept, row["timestamp"])


async def drafts_of(
    reader: Reader, user_id: int, *, limit: int | None = None, newest_first: bool = False
) -> list[Draft]:
    """Somebody's drafts in the order of their last edits."""
    direction = "desc" if newest_first else "asc"
    sql = f"""
    select {_COLUMNS} from draft where user_id = $1 order by edited_at {direction}, id {direction} limit $2
    """
    return [_draft(row) for row in await reader.fetch(sql, user_id, limit)]


async def insert_drafts(tx: Transaction, user_id: int, drafts: Sequence[KeptDraft]) -> list[Draft]:
    """Insert drafts, in the order given."""
    # Arrays of arrays are rectangles in SQL, so the people travel as texts.
    sql = f"""
    insert into draft (user_id, channel_id, user_ids, topic, content, edited_at)
    select $1, channel_id, people::bigint[], topic, content, coalesce(to_timestamp(edited), now())
    from unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::float8[]) with ordinality
        as new(channel_id, people, topic, content, edited, ord)
    order by ord returning {_COLUMNS}
    """
    columns = zip(
        *((one.channel_id, _array(one.user_ids), one.topic, one.content, one.timestamp) for one in drafts), strict=True
    )
    return [_draft(row) for row in await tx.fetch(sql, user_id, *columns)]


async def replace_draft(tx: Transaction, user_id: int, draft_id: int, draft: KeptDraft) -> Draft | None:
    """The draft as it is now, if it is theirs."""
    sql = f"""
    update draft set channel_id = $3, user_ids = $4, topic = $5, content = $6, edited_at = coalesce(to_timestamp($7), now())
    where user_id = $1 and id = $2 returning {_COLUMNS}
    """
    row = await tx.fetchrow(
        sql, user_id, draft_id, draft.channel_id, draft.user_ids, draft.topic, draft.content, draft.timestamp
    )
    return _draft(row) if row else None


async def delete_draft(tx: Transaction, user_id: int, draft_id: int) -> bool:
    """Delete a draft; returns whether it was there and theirs."""
    sql = "delete from draft where user_id = $1 and id = $2 returning true"
    return bool(await tx.fetchval(sql, user_id, draft_id))


def _array(user_ids: Sequence[int] | None) -> str | None:
    return None if user_ids is None else "{" + ",".join(map(str, user_ids)) + "}"


async def take_all(tx: Transaction, handed: Handed) -> None:
    """A bot that gets another owner has no drafts any more."""
    await tx.execute("delete from draft where user_id = $1", handed.bot_id)
