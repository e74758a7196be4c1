"""SQL of the realms feature: one statement per function."""

import msgspec

from tertulia.kernel.db import Reader, Transaction


class Realm(msgspec.Struct, frozen=True):
    """An organization."""

    id: int
    subdomain: str
    uuid: str
    name: str
    description: str
    created: int
    is_active: bool
    settings: bytes


_COLUMNS = """
id, subdomain, uuid::text as uuid, name, description, extract(epoch from date_created)::bigint as created, is_active,
settings::text::bytea as settings
"""


async def find_realm(reader: Reader, subdomain: str) -> Realm | None:
    """The realm at a subdomain."""
    row = await reader.fetchrow(f"select {_COLUMNS} from realm where subdomain = $1", subdomain)
    return Realm(**row) if row else None


async def get_realm(reader: Reader, realm_id: int) -> Realm:
    """The realm of a caller, which exists."""
    row = await reader.fetchrow(f"select {_COLUMNS} from realm where id = $1", realm_id)
    assert row is not None
    return Realm(**row)


async def insert_realm(tx: Transaction, subdomain: str, name: str, description: str) -> int:
    """A new realm's id."""
    sql = "insert into realm (subdomain, name, description) values ($1, $2, $3) returning id"
    return int(await tx.fetchval(sql, subdomain, name, description))
