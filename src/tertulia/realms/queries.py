"""SQL of the realms feature: one statement per function."""

from collections.abc import Sequence

import msgspec

from tertulia.kernel.db import Reader, Transaction
from tertulia.realms.settings import RealmSettings

NOTIFICATION_BOT_EMAIL = "notification-bot@tertulia.invalid"


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


async def hold_role(tx: Transaction, user_id: int) -> int | None:
    """The role of an active account, which does not change until the commit; None if it is not active."""
    found: int | None = await tx.fetchval("select role from account where id = $1 and is_active for share", user_id)
    return found


async def lock_realm(tx: Transaction, realm_id: int) -> Realm:
    """A realm that exists, held until the commit."""
    row = await tx.fetchrow(f"select {_COLUMNS} from realm where id = $1 for no key update", realm_id)
    assert row is not None
    return Realm(**row)


async def update_realm(
    tx: Transaction, realm_id: int, name: str, description: str, changed: Sequence[str], settings: RealmSettings
) -> None:
    """Write what changed: of the settings only what differs from the defaults stays stored."""
    sql = """
    update realm set name = $2, description = $3, settings = (settings - $4::text[]) || $5::text::jsonb where id = $1
    """
    await tx.execute(sql, realm_id, name, description, changed, msgspec.json.encode(settings).decode())


async def active_guests(reader: Reader, realm_id: int) -> list[int]:
    """The guests of a realm."""
    rows = await reader.fetch("select id from account where realm_id = $1 and role = 600 and is_active", realm_id)
    return [row["id"] for row in rows]


async def insert_notification_bot(tx: Transaction, realm_id: int) -> None:
    """The account that speaks for the server in a realm. No mail can be sent to its address."""
    sql = """
    insert into account (realm_id, email, email_key, full_name, bot_type, system_bot)
    values ($1, $2, $2, 'Notification Bot', 1, 'notification')
    """
    await tx.execute(sql, realm_id, NOTIFICATION_BOT_EMAIL)


# Domains


async def address_rules(reader: Reader, realm_id: int) -> tuple[bytes, list[tuple[str, bool]]]:
    """The settings of a realm, and its domains with whether what is below them counts."""
    sql = """
    select settings::text::bytea as settings, array(
        select row(domain, allow_subdomains) from realm_domain where realm_id = $1 order by id
    ) as domains from realm where id = $1
    """
    row = await reader.fetchrow(sql, realm_id)
    assert row is not None
    return row["settings"], [tuple(domain) for domain in row["domains"]]


async def insert_domain(tx: Transaction, realm_id: int, domain: str, *, allow_subdomains: bool) -> int | None:
    """A new domain's number; None if the realm has it."""
    sql = """
    insert into realm_domain (realm_id, domain, allow_subdomains) values ($1, $2, $3)
    on conflict do nothing returning id
    """
    found: int | None = await tx.fetchval(sql, realm_id, domain, allow_subdomains)
    return found


async def update_domain(tx: Transaction, realm_id: int, domain: str, *, allow_subdomains: bool) -> None:
    """Whether what is below a domain counts."""
    sql = "update realm_domain set allow_subdomains = $3 where realm_id = $1 and domain = $2"
    await tx.execute(sql, realm_id, domain, allow_subdomains)


async def delete_domain(tx: Transaction, realm_id: int, domain: str) -> bool:
    """Forget a domain; whether the realm had it."""
    sql = "delete from realm_domain where realm_id = $1 and domain = $2 returning true"
    return bool(await tx.fetchval(sql, realm_id, domain))
