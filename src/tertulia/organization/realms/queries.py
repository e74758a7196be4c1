"""SQL of the realms feature: one statement per function."""

from collections.abc import Sequence

import asyncpg
import msgspec

from tertulia.kernel.auth import Role
from tertulia.kernel.db import Reader, Transaction
from tertulia.organization.notices.model import BOT_NAME
from tertulia.organization.realms.settings import RealmFacts, RealmSettings, decode_realm

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
    facts: RealmFacts

    @property
    def settings(self) -> RealmSettings:
        """Its settings."""
        return self.facts.settings


_COLUMNS = """
id, subdomain, uuid::text as uuid, name, description, extract(epoch from date_created)::bigint as created, is_active,
settings::text as facts
"""


def _realm(row: asyncpg.Record) -> Realm:
    return Realm(**{**row, "facts": decode_realm(row["facts"])})


def is_half(realm_id: str) -> str:
    """Whether an import of a realm, or a newer archive of it, has not ended yet, in SQL."""
    return f"exists (select from realm_import where realm_import.realm_id = {realm_id} and finished is null)"


async def find_realm(reader: Reader, subdomain: str) -> Realm | None:
    """The realm at a subdomain. One that is still being imported is not there for anybody."""
    sql = f"""
    select {_COLUMNS} from realm where subdomain = $1
        and not {is_half("realm.id")}
    """
    row = await reader.fetchrow(sql, subdomain)
    return _realm(row) if row else None


async def get_realm(reader: Reader, realm_id: int) -> Realm:
    """The realm of a caller, which exists."""
    row = await reader.fetchrow(f"select {_COLUMNS} from realm where id = $1", realm_id)
    assert row is not None
    return _realm(row)


async def insert_realm(tx: Transaction, subdomain: str, name: str, description: str) -> int:
    """Insert a realm; returns its id."""
    sql = "insert into realm (subdomain, name, description) values ($1, $2, $3) returning id"
    return int(await tx.fetchval(sql, subdomain, name, description))


async def has_web_public_channel(reader: Reader, realm_id: int) -> bool:
    """Whether a channel of the realm is web-public, and in use."""
    sql = "select exists (select from channel where realm_id = $1 and is_web_public and not is_archived)"
    return bool(await reader.fetchval(sql, realm_id))


async def has_people(reader: Reader, realm_id: int) -> bool:
    """Whether anybody ever had an account in the realm."""
    sql = "select exists (select from account where realm_id = $1 and bot_type is null)"
    return bool(await reader.fetchval(sql, realm_id))


async def note_waiting(tx: Transaction, realm_id: int, waiting: str) -> None:
    """Note for which key a realm waits."""
    sql = "update realm set settings = settings || jsonb_build_object('_waiting', $2::text) where id = $1"
    await tx.execute(sql, realm_id, waiting)


async def forget_waiting(tx: Transaction, realm_id: int) -> None:
    """The realm waits for nobody."""
    await tx.execute("update realm set settings = settings - '_waiting' where id = $1", realm_id)


async def hold_role(tx: Transaction, user_id: int, *, lightly: bool = False) -> int | None:
    """The role of an active account, which does not change until the commit; None if it is not active.

    `lightly`: nobody waits for it but who changes the role, so it may be asked for whatever else is held.
    """
    sql = f"select role from account where id = $1 and is_active for {'key ' if lightly else ''}share"
    found: int | None = await tx.fetchval(sql, user_id)
    return found


async def find_role(reader: Reader, user_id: int) -> int | None:
    """The same, as it is now."""
    found: int | None = await reader.fetchval("select role from account where id = $1 and is_active", user_id)
    return found


async def lock_realm(tx: Transaction, realm_id: int) -> Realm:
    """A realm that exists, locked until the commit."""
    row = await tx.fetchrow(f"select {_COLUMNS} from realm where id = $1 for no key update", realm_id)
    assert row is not None
    return _realm(row)


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
    rows = await reader.fetch(
        f"select id from account where realm_id = $1 and role = {Role.GUEST} and is_active", realm_id
    )
    return [row["id"] for row in rows]


async def insert_notification_bot(tx: Transaction, realm_id: int) -> None:
    """Insert the account that speaks for the server in a realm. No mail can be sent to its address."""
    sql = """
    insert into account (realm_id, email, email_key, full_name, bot_type, system_bot)
    values ($1, $2, $2, $3, 1, 'notification')
    """
    await tx.execute(sql, realm_id, NOTIFICATION_BOT_EMAIL, BOT_NAME)


# Domains


async def names_of(reader: Reader, realm_id: int) -> list[str]:
    """What the organization is called: its name, its subdomain and its domains."""
    sql = """
    select array[name, subdomain] || array(select domain from realm_domain where realm_id = $1 order by id)
    from realm where id = $1
    """
    found: list[str] = await reader.fetchval(sql, realm_id)
    return found


async def address_rules(reader: Reader, realm_id: int) -> tuple[RealmSettings, list[tuple[str, bool]]]:
    """The settings of a realm, and its domains, each with whether its subdomains are allowed too."""
    sql = """
    select settings::text, array(
        select row(domain, allow_subdomains) from realm_domain where realm_id = $1 order by id
    ) as domains from realm where id = $1
    """
    row = await reader.fetchrow(sql, realm_id)
    assert row is not None
    return decode_realm(row["settings"]).settings, [tuple(domain) for domain in row["domains"]]


async def insert_domain(tx: Transaction, realm_id: int, domain: str, *, allow_subdomains: bool) -> int | None:
    """Insert a domain; returns its id, None if the realm has it."""
    sql = """
    insert into realm_domain (realm_id, domain, allow_subdomains) values ($1, $2, $3)
    on conflict do nothing returning id
    """
    found: int | None = await tx.fetchval(sql, realm_id, domain, allow_subdomains)
    return found


async def update_domain(tx: Transaction, realm_id: int, domain: str, *, allow_subdomains: bool) -> None:
    """Set whether the subdomains of a domain are allowed too."""
    sql = "update realm_domain set allow_subdomains = $3 where realm_id = $1 and domain = $2"
    await tx.execute(sql, realm_id, domain, allow_subdomains)


async def delete_domain(tx: Transaction, realm_id: int, domain: str) -> bool:
    """Delete a domain; returns whether the realm had it."""
    sql = "delete from realm_domain where realm_id = $1 and domain = $2 returning true"
    return bool(await tx.fetchval(sql, realm_id, domain))


async def switch(tx: Transaction, realm_id: int, *, is_active: bool) -> list[int]:
    """Whether an organization lets anybody in; returns its active accounts."""
    await tx.execute("update realm set is_active = $2 where id = $1", realm_id, is_active)
    rows = await tx.fetch("select id from account where realm_id = $1 and is_active order by id", realm_id)
    return [row["id"] for row in rows]
