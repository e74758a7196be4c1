"""SQL of the tokens of directories: one statement per function."""

import msgspec

from tertulia.kernel.auth import Role
from tertulia.kernel.db import Reader, Transaction


class TokenRecord(msgspec.Struct, frozen=True):
    """A token as owners see it. Times are in seconds."""

    id: int
    label: str
    created: int
    made_by: int | None
    """None: the operator of the server, or somebody who is no more."""
    last_used: int | None
    """To the hour."""


async def insert_token(tx: Transaction, realm_id: int, digest: bytes, label: str, made_by: int | None) -> int:
    """Insert a token; returns its id."""
    sql = "insert into scim_token (realm_id, digest, label, made_by) values ($1, $2, $3, $4) returning id"
    return int(await tx.fetchval(sql, realm_id, digest, label, made_by))


async def tokens_of(reader: Reader, realm_id: int) -> list[TokenRecord]:
    """The tokens of an organization, the oldest first."""
    sql = """
    select id, label, extract(epoch from created)::bigint as created, made_by,
        extract(epoch from last_used)::bigint as last_used
    from scim_token where realm_id = $1 order by id
    """
    return [TokenRecord(**row) for row in await reader.fetch(sql, realm_id)]


async def delete_token(tx: Transaction, realm_id: int, token_id: int) -> str | None:
    """Delete a token; returns its label, None if the organization has no such token."""
    sql = "delete from scim_token where realm_id = $1 and id = $2 returning label"
    found: str | None = await tx.fetchval(sql, realm_id, token_id)
    return found


async def owners_of(reader: Reader, realm_id: int) -> list[int]:
    """The people who own an organization."""
    sql = "select id from account where realm_id = $1 and role = $2 and is_active and bot_type is null order by id"
    return [row["id"] for row in await reader.fetch(sql, realm_id, Role.OWNER)]
