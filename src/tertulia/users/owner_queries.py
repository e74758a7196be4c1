"""Whose a key or a session is: all that a request needs to know of who makes it. One statement per function."""

from collections.abc import Sequence

import asyncpg
import msgspec

from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader, Transaction


class KeyOwner(msgspec.Struct, frozen=True):
    """Whose an API key or a session is."""

    caller: Caller
    email_key: str
    is_active: bool
    realm_is_active: bool
    realm_name: str


# Of account joined with realm: all that makes a KeyOwner, except the key's own id.
OWNER_COLUMNS = """
account.id as user_id, account.realm_id, email, email_key, full_name, role, bot_type, account.is_active,
avatar_url(account), email_visibility(account),
realm.is_active as realm_is_active, subdomain, realm.name as realm_name, realm.settings::text as realm_settings
"""


def owner_of(row: asyncpg.Record, key_id: int = 0) -> KeyOwner:
    """The owner in a row with OWNER_COLUMNS. `key_id` is 0 for callers who use no key."""
    return KeyOwner(
        caller=Caller(
            user_id=row["user_id"],
            realm_id=row["realm_id"],
            key_id=key_id,
            email=row["email"],
            full_name=row["full_name"],
            role=row["role"],
            bot_type=row["bot_type"],
            avatar_url=row["avatar_url"],
            subdomain=row["subdomain"],
            realm_settings=row["realm_settings"].encode(),
            email_visibility=row["email_visibility"],
        ),
        email_key=row["email_key"],
        is_active=row["is_active"],
        realm_is_active=row["realm_is_active"],
        realm_name=row["realm_name"],
    )


async def owners_of_keys(reader: Reader, digests: Sequence[bytes]) -> dict[bytes, KeyOwner]:
    """The owners of many keys, in one statement."""
    sql = f"""
    select api_key.digest, api_key.id as key_id, {OWNER_COLUMNS}
    from api_key join account on account.id = api_key.user_id join realm on realm.id = account.realm_id
    where api_key.digest = any($1::bytea[])
    """
    return {row["digest"]: owner_of(row, row["key_id"]) for row in await reader.fetch(sql, digests)}


class SessionOwner(msgspec.Struct, frozen=True):
    """Whose a browser session is, and whether it is time to prolong it."""

    owner: KeyOwner
    csrf_token: str
    is_due: bool


async def owners_of_sessions(reader: Reader, digests: Sequence[bytes]) -> dict[bytes, SessionOwner]:
    """The owners of many sessions that have not expired, in one statement."""
    sql = f"""
    select digest, csrf_token, last_used < now() - interval '1 hour' as is_due, {OWNER_COLUMNS}
    from browser_session join account on account.id = browser_session.user_id join realm on realm.id = account.realm_id
    where digest = any($1::bytea[]) and expires > now()
    """
    return {
        row["digest"]: SessionOwner(owner_of(row), row["csrf_token"], row["is_due"])
        for row in await reader.fetch(sql, digests)
    }


async def prolong_sessions(tx: Transaction, digests: Sequence[bytes], seconds: int) -> None:
    """Note that sessions are in use; what another request does at the same moment is left to it."""
    sql = """
    update browser_session set last_used = now(), expires = now() + make_interval(secs => $2) where digest in (
        select digest from browser_session
        where digest = any($1::bytea[]) and expires > now() and last_used < now() - interval '1 hour'
        for no key update skip locked
    )
    """
    await tx.execute(sql, digests, seconds)


async def get_owner(reader: Reader, user_id: int, key_id: int = 0) -> KeyOwner:
    """What is now true of an account that exists."""
    sql = f"select {OWNER_COLUMNS} from account join realm on realm.id = account.realm_id where account.id = $1"
    row = await reader.fetchrow(sql, user_id)
    assert row is not None
    return owner_of(row, key_id)
