"""SQL of the users feature: one statement per function."""

from collections.abc import Sequence

import msgspec

from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader, Transaction
from tertulia.users.model import User


class Login(msgspec.Struct, frozen=True):
    """What a password login needs to know of an account."""

    id: int
    email: str
    is_active: bool
    password_hash: str | None


class KeyOwner(msgspec.Struct, frozen=True):
    """Whose an API key is."""

    caller: Caller
    email_key: str
    is_active: bool
    realm_is_active: bool
    realm_name: str


async def owners_of_keys(reader: Reader, digests: Sequence[bytes]) -> dict[bytes, KeyOwner]:
    """The owners of many keys, in one statement."""
    sql = """
    select api_key.digest, api_key.id as key_id, account.id as user_id, account.realm_id, email, email_key, full_name,
           role, bot_type, avatar_version, account.is_active, realm.is_active as realm_is_active, subdomain,
           realm.name as realm_name, realm.settings::text as realm_settings
    from api_key join account on account.id = api_key.user_id join realm on realm.id = account.realm_id
    where api_key.digest = any($1::bytea[])
    """
    return {
        row["digest"]: KeyOwner(
            caller=Caller(
                user_id=row["user_id"],
                realm_id=row["realm_id"],
                key_id=row["key_id"],
                email=row["email"],
                full_name=row["full_name"],
                role=row["role"],
                bot_type=row["bot_type"],
                avatar_version=row["avatar_version"],
                subdomain=row["subdomain"],
                realm_settings=row["realm_settings"].encode(),
            ),
            email_key=row["email_key"],
            is_active=row["is_active"],
            realm_is_active=row["realm_is_active"],
            realm_name=row["realm_name"],
        )
        for row in await reader.fetch(sql, digests)
    }


async def find_login(reader: Reader, realm_id: int, email_key: str) -> Login | None:
    """The account a person logs in to; bots have no password."""
    sql = """
    select id, email, is_active, password_hash from account
    where realm_id = $1 and email_key = $2 and bot_type is null
    """
    row = await reader.fetchrow(sql, realm_id, email_key)
    return Login(**row) if row else None


async def users_of_realm(reader: Reader, realm_id: int) -> list[User]:
    """Everybody in the realm, bots and deactivated users too."""
    sql = """
    select id, email, full_name, role, bot_type, bot_owner_id, is_active, is_imported_stub, date_joined, timezone,
           avatar_version
    from account where realm_id = $1 order by id
    """
    return [User(**row) for row in await reader.fetch(sql, realm_id)]


async def get_user(reader: Reader, user_id: int) -> User:
    """A user who exists."""
    sql = """
    select id, email, full_name, role, bot_type, bot_owner_id, is_active, is_imported_stub, date_joined, timezone,
           avatar_version
    from account where id = $1
    """
    row = await reader.fetchrow(sql, user_id)
    assert row is not None
    return User(**row)


async def insert_user(
    tx: Transaction,
    realm_id: int,
    email: str,
    full_name: str,
    role: int,
    bot: tuple[int | None, int | None],
    password: str | None,
) -> int:
    """A new account's id; `bot` is its type and owner."""
    sql = """
    insert into account (realm_id, email, email_key, full_name, role, bot_type, bot_owner_id, password_hash)
    values ($1, $2, $3, $4, $5, $6, $7, $8) returning id
    """
    return int(await tx.fetchval(sql, realm_id, email, email_key_of(email), full_name, role, *bot, password))


async def insert_api_key(tx: Transaction, user_id: int, digest: bytes, label: str) -> None:
    """One more key of the user."""
    await tx.execute("insert into api_key (user_id, digest, label) values ($1, $2, $3)", user_id, digest, label)


def email_key_of(email: str) -> str:
    """What makes two addresses the same."""
    return email.strip().lower()
