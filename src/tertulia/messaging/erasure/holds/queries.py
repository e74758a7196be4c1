"""SQL of legal holds: one statement per function."""

from datetime import datetime
from typing import Any

import msgspec

from tertulia.kernel.db import Reader, Transaction


class Hold(msgspec.Struct, frozen=True):
    """Of a person, or of the whole organization."""

    id: int
    user_id: int | None
    reason: str
    created: datetime
    made_by: int | None


_COLUMNS = "id, user_id, reason, created, made_by"


async def insert_hold(
    tx: Transaction, realm_id: int, user_id: int | None, reason: str, made_by: int | None
) -> int | None:
    """The number of a new hold; None: there is one already."""
    sql = """
    insert into legal_hold (realm_id, user_id, reason, made_by) values ($1, $2, $3, $4) on conflict do nothing returning id
    """
    found: int | None = await tx.fetchval(sql, realm_id, user_id, reason, made_by)
    return found


async def delete_hold(tx: Transaction, realm_id: int, hold_id: int) -> Hold | None:
    """The hold that is no more; None: there was none."""
    row = await tx.fetchrow(
        f"delete from legal_hold where realm_id = $1 and id = $2 returning {_COLUMNS}", realm_id, hold_id
    )
    return Hold(**row) if row else None


async def holds_of(reader: Reader, realm_id: int) -> list[Hold]:
    """All of an organization."""
    rows = await reader.fetch(f"select {_COLUMNS} from legal_hold where realm_id = $1 order by id", realm_id)
    return [Hold(**row) for row in rows]


async def delete_copies(tx: Transaction, realm_id: int) -> list[str | None]:
    """Delete copies that nothing holds any more; the object of each, or None."""
    sql = """
    delete from held_copy where realm_id = $1 and not is_held(realm_id, user_id, conversation_id) returning key
    """
    return [row["key"] for row in await tx.fetch(sql, realm_id)]


async def copies_after(reader: Reader, realm_id: int, after: int, limit: int) -> list[dict[str, Any]]:
    """Copies of an organization, with what they are."""
    sql = """
    select id, kind, user_id, conversation_id, deleted, key, body::text as body from held_copy
    where realm_id = $1 and id > $2 order by id limit $3
    """
    rows = await reader.fetch(sql, realm_id, after, limit)
    return [{**row, "body": msgspec.json.decode(row["body"])} for row in rows]
