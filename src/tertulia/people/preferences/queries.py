"""SQL of the preferences feature: one statement per function."""

from collections.abc import Sequence

import msgspec

from tertulia.kernel.db import Reader, Transaction
from tertulia.organization.realms.settings import decode_realm
from tertulia.people.preferences.model import Chosen, UserSettings

_decode = msgspec.json.Decoder(UserSettings).decode


async def get_settings(reader: Reader, user_id: int) -> tuple[UserSettings, str]:
    """The settings and the time zone of an account that exists."""
    row = await reader.fetchrow("select settings::text, timezone from account where id = $1", user_id)
    assert row is not None
    return _decode(row["settings"]), row["timezone"]


async def lock_chosen(tx: Transaction, user_id: int) -> Chosen:
    """What an account has chosen. The account exists, and is locked until the commit."""
    sql = """
    select account.settings::text, timezone, full_name, email, role, account.is_active, realm.settings::text as realm_facts
    from account join realm on realm.id = account.realm_id where account.id = $1 for no key update of account
    """
    row = await tx.fetchrow(sql, user_id)
    assert row is not None
    return Chosen(
        settings=_decode(row["settings"]),
        timezone=row["timezone"],
        full_name=row["full_name"],
        email=row["email"],
        role=row["role"],
        is_active=row["is_active"],
        name_is_fixed=decode_realm(row["realm_facts"]).settings.name_changes_disabled,
    )


async def update_settings(
    tx: Transaction, user_id: int, settings: UserSettings, changed: Sequence[str], timezone: str, full_name: str
) -> None:
    """Write what changed: of the settings only what differs from the defaults stays stored."""
    sql = """
    update account set settings = (settings - $2::text[]) || $3::text::jsonb, timezone = $4, full_name = $5 where id = $1
    """
    stored = msgspec.json.encode(settings).decode()
    await tx.execute(sql, user_id, changed, stored, timezone, full_name)


async def note_consent(tx: Transaction, user_id: int) -> None:
    """They agree to be in exports from now on."""
    await tx.execute("update account set consented = now() where id = $1", user_id)


async def get_defaults(reader: Reader, realm_id: int) -> UserSettings:
    """The settings that a new person starts with."""
    return _decode(await reader.fetchval("select user_defaults::text from realm where id = $1", realm_id))


async def lock_defaults(tx: Transaction, realm_id: int) -> UserSettings:
    """As `get_defaults`, locked until the commit."""
    return _decode(await tx.fetchval("select user_defaults::text from realm where id = $1 for no key update", realm_id))


async def update_defaults(tx: Transaction, realm_id: int, settings: UserSettings) -> None:
    """Write the settings that a new person starts with."""
    stored = msgspec.json.encode(settings).decode()
    await tx.execute("update realm set user_defaults = $2::text::jsonb where id = $1", realm_id, stored)
