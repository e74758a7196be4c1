"""SQL of people as a directory sees them: one statement per function."""

from collections.abc import Sequence

import msgspec

from tertulia.integrations.scim.columns import Column, Condition
from tertulia.kernel.db import Reader, Transaction
from tertulia.people.users.addresses import email_key_of

# Whom a directory sees: people, but for those it has deleted and nobody has brought back.
_SEEN = "account.realm_id = $1 and account.bot_type is null and (account.is_active or scim_user.is_deleted is not true)"
_FROM = "account left join scim_user on scim_user.user_id = account.id"
_COLUMNS = """
account.id, account.email, account.full_name, account.role, account.is_active,
to_char(account.date_joined at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as created,
coalesce(scim_user.user_name, account.email) as user_name, scim_user.given_name, scim_user.family_name,
scim_user.formatted_name, scim_user.external_id, coalesce(scim_user.is_deleted, false) as is_deleted
"""
_NAMED = """
account.id in (
    select user_id from scim_user where realm_id = $1 and user_name_key = {0}
    union all
    select other.id from account as other where other.realm_id = $1 and other.email_key = {0}
        and not exists (select from scim_user where user_id = other.id)
)
"""
_ADDRESS = Column("account.email_key", "folded")

COLUMNS = {
    "id": Column("account.id::text"),
    "externalid": Column(
        "scim_user.external_id",
        equals="account.id in (select user_id from scim_user where realm_id = $1 and external_id = {})",
    ),
    "username": Column("coalesce(scim_user.user_name_key, account.email_key)", "folded", _NAMED),
    "displayname": Column("lower(account.full_name)", "folded"),
    "name.formatted": Column("lower(scim_user.formatted_name)", "folded"),
    "name.givenname": Column("lower(scim_user.given_name)", "folded"),
    "name.familyname": Column("lower(scim_user.family_name)", "folded"),
    "emails": _ADDRESS,
    "emails.value": _ADDRESS,
    "emails.type": Column("'work'::text", "folded"),
    "emails.primary": Column("true", "boolean"),
    "active": Column("account.is_active", "boolean"),
    "meta.created": Column("account.date_joined", "time"),
}
"""By the attributes of a filter."""


class UserRow(msgspec.Struct, frozen=True):
    """A person, with what a directory calls them."""

    id: int
    email: str
    full_name: str
    role: int
    is_active: bool
    created: str
    user_name: str
    given_name: str | None
    family_name: str | None
    formatted_name: str | None
    external_id: str | None
    is_deleted: bool


class Naming(msgspec.Struct, frozen=True):
    """What a directory calls a person: what this feature stores of them."""

    user_name: str
    given_name: str | None
    family_name: str | None
    formatted_name: str | None
    external_id: str | None


async def find_user(reader: Reader, realm_id: int, user_id: int) -> UserRow | None:
    """A person whom a directory sees."""
    row = await reader.fetchrow(f"select {_COLUMNS} from {_FROM} where {_SEEN} and account.id = $2", realm_id, user_id)
    return UserRow(**row) if row else None


async def find_deleted(reader: Reader, realm_id: int, user_name: str, email: str) -> UserRow | None:
    """The person of that name, or else of that address, whom a directory has deleted."""
    sql = f"""
    select {_COLUMNS} from {_FROM}
    where account.realm_id = $1 and account.bot_type is null and not account.is_active and scim_user.is_deleted
        and (scim_user.user_name_key = $2 or account.email_key = $3)
    order by scim_user.user_name_key = $2 desc limit 1
    """
    row = await reader.fetchrow(sql, realm_id, email_key_of(user_name), email_key_of(email))
    return UserRow(**row) if row else None


async def has_namesake(reader: Reader, realm_id: int, user_name: str, user_id: int | None) -> bool:
    """Whether a directory sees somebody else by that name."""
    sql = f"select exists (select from {_FROM} where {_SEEN} and {_NAMED.format('$2')} and account.id is distinct from $3)"
    return bool(await reader.fetchval(sql, realm_id, email_key_of(user_name), user_id))


async def count_users(reader: Reader, realm_id: int, condition: Condition) -> int:
    """How many people fulfil a condition."""
    sql = f"select count(*) from {_FROM} where {_SEEN} and {condition.sql}"
    return int(await reader.fetchval(sql, realm_id, *condition.arguments))


async def list_users(reader: Reader, realm_id: int, condition: Condition, limit: int, offset: int) -> list[UserRow]:
    """A page of the people who fulfil a condition, by their ids."""
    last = len(condition.arguments) + 1
    sql = f"""
    select {_COLUMNS} from {_FROM} where {_SEEN} and {condition.sql}
    order by account.id limit ${last + 1} offset ${last + 2}
    """
    return [UserRow(**row) for row in await reader.fetch(sql, realm_id, *condition.arguments, limit, offset)]


async def write_naming(tx: Transaction, realm_id: int, user_id: int, naming: Naming) -> None:
    """Store what a directory calls a person. It is no longer deleted for it."""
    sql = """
    insert into scim_user (realm_id, user_id, user_name, user_name_key, given_name, family_name, formatted_name, external_id)
    values ($1, $2, $3, $4, $5, $6, $7, $8)
    on conflict (user_id) do update set user_name = excluded.user_name, user_name_key = excluded.user_name_key,
        given_name = excluded.given_name, family_name = excluded.family_name,
        formatted_name = excluded.formatted_name, external_id = excluded.external_id, is_deleted = false
    """
    key = email_key_of(naming.user_name)
    values: Sequence[str | None] = msgspec.structs.astuple(naming)[1:]
    await tx.execute(sql, realm_id, user_id, naming.user_name, key, *values)


async def mark_deleted(tx: Transaction, realm_id: int, user: UserRow) -> None:
    """Note that a directory has deleted a person."""
    sql = """
    insert into scim_user (realm_id, user_id, user_name, user_name_key, is_deleted) values ($1, $2, $3, $4, true)
    on conflict (user_id) do update set is_deleted = true
    """
    await tx.execute(sql, realm_id, user.id, user.user_name, email_key_of(user.user_name))
