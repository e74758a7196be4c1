"""Whose a key or a session is: all that a request needs to know of who makes it. One statement per function."""

from collections.abc import Sequence

import asyncpg
import msgspec

from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader, Transaction
from tertulia.organization.realms.settings import decode_realm
from tertulia.people.users.model import MAX_KEYS, KeyOrigin


class KeyOwner(msgspec.Struct, frozen=True):
    """Whose an API key or a session is."""

    caller: Caller
    email_key: str
    is_active: bool
    realm_is_active: bool
    realm_name: str


# Of account joined with realm: all that makes a KeyOwner, except the key's own id.
OWNER_COLUMNS = """
account.id as user_id, account.realm_id, email, email_key, full_name, role, bot_type, bot_owner_id, account.is_active,
signed_only,
avatar_url(account), email_visibility(account),
realm.is_active as realm_is_active, subdomain, realm.name as realm_name, realm.settings::text as realm_facts
"""


def owner_of(row: asyncpg.Record, key_id: int = 0, session_id: int = 0) -> KeyOwner:
    """The owner in a row with OWNER_COLUMNS. Both ids are 0 for callers who use neither key nor session."""
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
            realm=decode_realm(row["realm_facts"]),
            email_visibility=row["email_visibility"],
            session_id=session_id,
            owner_id=row["bot_owner_id"],
            signed_only=row["signed_only"],
        ),
        email_key=row["email_key"],
        is_active=row["is_active"],
        realm_is_active=row["realm_is_active"],
        realm_name=row["realm_name"],
    )


async def owners_of_keys(reader: Reader, digests: Sequence[bytes]) -> dict[bytes, KeyOwner]:
    """The owners of many keys, in one statement."""
    wanted, argument = _wanted(digests)
    sql = f"""
    select api_key.digest, api_key.id as key_id, {OWNER_COLUMNS}
    from api_key join account on account.id = api_key.user_id join realm on realm.id = account.realm_id
    where api_key.digest {wanted}
    """
    return {row["digest"]: owner_of(row, row["key_id"]) for row in await reader.fetch(sql, argument)}


def _wanted(digests: Sequence[bytes]) -> tuple[str, object]:
    """The end of the condition that a digest is one of these. Most are asked for alone: that costs a quarter less."""
    return ("= $1", digests[0]) if len(digests) == 1 else ("= any($1::bytea[])", digests)


class SessionOwner(msgspec.Struct, frozen=True):
    """Whose a browser session is, and whether it is time to prolong it."""

    owner: KeyOwner
    csrf_token: str
    is_due: bool


async def owners_of_sessions(reader: Reader, digests: Sequence[bytes]) -> dict[bytes, SessionOwner]:
    """The owners of many sessions that have not expired, in one statement."""
    wanted, argument = _wanted(digests)
    sql = f"""
    select digest, browser_session.id as session_id, csrf_token, last_used < now() - interval '1 hour' as is_due, {OWNER_COLUMNS}
    from browser_session join account on account.id = browser_session.user_id join realm on realm.id = account.realm_id
    where digest {wanted} and expires > now()
    """
    return {
        row["digest"]: SessionOwner(owner_of(row, session_id=row["session_id"]), row["csrf_token"], row["is_due"])
        for row in await reader.fetch(sql, argument)
    }


async def prolong_sessions(tx: Transaction, digests: Sequence[bytes], idle: int, longest: int) -> None:
    """Note that sessions are in use; what another request does at the same moment is left to it."""
    sql = """
    update browser_session set last_used = now(),
        expires = least(now() + make_interval(secs => $2), created + make_interval(secs => $3))
    where digest in (
        select digest from browser_session
        where digest = any($1::bytea[]) and expires > now() and last_used < now() - interval '1 hour'
        for no key update skip locked
    )
    """
    await tx.execute(sql, digests, idle, longest)


class TokenOwner(msgspec.Struct, frozen=True):
    """Which organization a directory's token is of, and whether its use is to be noted."""

    owner: KeyOwner
    token_id: int
    is_due: bool


async def owner_of_token(reader: Reader, digest: bytes) -> TokenOwner | None:
    """The organization of a directory's token, as its own bot."""
    sql = f"""
    select scim_token.id as token_id, {OWNER_COLUMNS},
        last_used is null or last_used < now() - interval '1 hour' as is_due
    from scim_token join realm on realm.id = scim_token.realm_id
    join account on account.realm_id = realm.id and account.system_bot = 'notification'
    where scim_token.digest = $1
    """
    row = await reader.fetchrow(sql, digest)
    return TokenOwner(owner_of(row), row["token_id"], row["is_due"]) if row else None


async def note_use_of_token(tx: Transaction, token_id: int) -> None:
    """Note that a directory's token is in use."""
    sql = """
    update scim_token set last_used = now()
    where id = (select id from scim_token where id = $1 for no key update skip locked)
    """
    await tx.execute(sql, token_id)


async def get_owner(reader: Reader, user_id: int, key_id: int = 0) -> KeyOwner:
    """What is now true of an account that exists."""
    sql = f"select {OWNER_COLUMNS} from account join realm on realm.id = account.realm_id where account.id = $1"
    row = await reader.fetchrow(sql, user_id)
    assert row is not None
    return owner_of(row, key_id)


# What a request was let in by, held until the commit: whoever ends it waits


async def hold_key(tx: Transaction, user_id: int, key_id: int) -> bool:
    """Whether this key of a user is still good."""
    sql = "select true from api_key where id = $1 and user_id = $2 for key share"
    return bool(await tx.fetchval(sql, key_id, user_id))


async def hold_session(tx: Transaction, user_id: int, session_id: int) -> bool:
    """Whether this session of a user is still good."""
    sql = "select true from browser_session where id = $1 and user_id = $2 and expires > now() for key share"
    return bool(await tx.fetchval(sql, session_id, user_id))


async def hold_token(tx: Transaction, realm_id: int, token_id: int) -> bool:
    """Whether this token of a directory is still good."""
    sql = "select true from scim_token where id = $1 and realm_id = $2 for key share"
    return bool(await tx.fetchval(sql, token_id, realm_id))


async def is_let_in(reader: Reader, user_id: int, role: int, key_id: int, session_id: int) -> bool:
    """Whether an account is active with this role at least, and the key or session is still good; 0: there is none."""
    sql = """
    select is_active and role <= $2
        and ($3::bigint = 0 or exists (select from api_key where id = $3 and user_id = $1))
        and ($4::bigint = 0 or exists (select from browser_session where id = $4 and user_id = $1 and expires > now()))
    from account where id = $1
    """
    return bool(await reader.fetchval(sql, user_id, role, key_id, session_id))


# Keys that are made


async def insert_api_key(
    tx: Transaction, user_id: int, digest: bytes, label: str, made_by: KeyOrigin
) -> tuple[int, int] | None:
    """Insert one more key of a user who is held; its id and that of the realm, or None: they may have no other."""
    sql = f"""
    insert into api_key (user_id, digest, label, made_by) select $1, $2, $3, $4
    where (select count(*) from api_key where user_id = $1) < {MAX_KEYS}
    returning id, (select realm_id from account where account.id = $1) as realm_id
    """
    row = await tx.fetchrow(sql, user_id, digest, label, made_by)
    return None if row is None else (row["id"], row["realm_id"])


# The end of keys and sessions


class EndedKey(msgspec.Struct, frozen=True):
    """A key that is no more."""

    id: int
    realm_id: int
    user_id: int
    label: str
    made_by: str


async def delete_keys(
    tx: Transaction, user_ids: Sequence[int], key_id: int | None, made_by: Sequence[str] | None
) -> list[EndedKey]:
    """Delete keys of these users: one, those that were made in these ways, or all."""
    sql = """
    delete from api_key using account
    where account.id = api_key.user_id and api_key.user_id = any($1::bigint[])
        and ($2::bigint is null or api_key.id = $2) and ($3::text[] is null or made_by = any($3))
    returning api_key.id, realm_id, user_id, label, made_by
    """
    return [EndedKey(**row) for row in await tx.fetch(sql, user_ids, key_id, made_by)]


async def delete_other_keys(tx: Transaction, user_id: int, kept: int) -> list[EndedKey]:
    """Delete all keys of a user but one."""
    sql = """
    delete from api_key using account where account.id = api_key.user_id and api_key.user_id = $1 and api_key.id <> $2
    returning api_key.id, realm_id, user_id, label, made_by
    """
    return [EndedKey(**row) for row in await tx.fetch(sql, user_id, kept)]


async def delete_old_keys(
    tx: Transaction, idle_days: int, max_days: int, made_by: Sequence[str], limit: int
) -> list[EndedKey]:
    """Delete keys that were not used for so many days, and those that were made in these ways so many days ago; 0: no days."""
    sql = """
    with old as (
        select id from api_key
        where ($1 > 0 and coalesce(last_used, created) < now() - make_interval(days => $1))
            or ($2 > 0 and made_by = any($3::text[]) and created < now() - make_interval(days => $2))
        order by id limit $4 for update skip locked
    )
    delete from api_key using account, old where account.id = api_key.user_id and api_key.id = old.id
    returning api_key.id, realm_id, user_id, label, made_by
    """
    return [EndedKey(**row) for row in await tx.fetch(sql, idle_days, max_days, made_by, limit)]


class EndedSession(msgspec.Struct, frozen=True):
    """A session that is no more."""

    id: int
    realm_id: int
    user_id: int


async def delete_sessions(
    tx: Transaction, user_ids: Sequence[int], session_id: int | None, keep: bytes | None
) -> list[EndedSession]:
    """Delete sessions of these users: one, or all but one."""
    sql = """
    delete from browser_session using account
    where account.id = browser_session.user_id and browser_session.user_id = any($1::bigint[])
        and ($2::bigint is null or browser_session.id = $2) and digest is distinct from $3
    returning browser_session.id, realm_id, user_id
    """
    return [EndedSession(**row) for row in await tx.fetch(sql, user_ids, session_id, keep)]


async def delete_session(tx: Transaction, digest: bytes) -> list[EndedSession]:
    """Delete the session of a browser, whoever it belongs to."""
    sql = """
    delete from browser_session using account where account.id = browser_session.user_id and digest = $1
    returning browser_session.id, realm_id, user_id
    """
    return [EndedSession(**row) for row in await tx.fetch(sql, digest)]


async def delete_provider_sessions(
    tx: Transaction, issuer: str, session: str, user_ids: Sequence[int] | None
) -> list[EndedSession]:
    """Delete what began with one session at a provider; of these users, if it is known whose it was.

    Then also what began at that provider without its session being known: it may be the one.
    """
    sql = """
    delete from browser_session using account where account.id = browser_session.user_id and issuer = $1
        and (provider_session = $2 or (provider_session is null and $3::bigint[] is not null))
        and ($3 is null or browser_session.user_id = any($3))
    returning browser_session.id, realm_id, user_id
    """
    return [EndedSession(**row) for row in await tx.fetch(sql, issuer, session, user_ids)]


async def delete_provider_keys(
    tx: Transaction, issuer: str, session: str | None, user_ids: Sequence[int] | None
) -> list[EndedKey]:
    """Delete the keys that apps got with one session at a provider (None: with any), as `delete_provider_sessions` does."""
    sql = """
    delete from api_key using account where account.id = api_key.user_id and issuer = $1
        and ($2::text is null or provider_session = $2 or (provider_session is null and $3::bigint[] is not null))
        and ($3 is null or api_key.user_id = any($3))
    returning api_key.id, realm_id, user_id, label, made_by
    """
    return [EndedKey(**row) for row in await tx.fetch(sql, issuer, session, user_ids)]


async def delete_oldest_sessions(tx: Transaction, user_id: int, kept: int) -> list[EndedSession]:
    """Delete the sessions that were not in use for the longest time, but for so many."""
    sql = """
    delete from browser_session using account where account.id = browser_session.user_id and digest in (
        select digest from browser_session where user_id = $1 order by last_used desc, id desc offset $2
    ) returning browser_session.id, realm_id, user_id
    """
    return [EndedSession(**row) for row in await tx.fetch(sql, user_id, kept)]


async def delete_access(tx: Transaction, user_ids: Sequence[int]) -> None:
    """Delete all that opens these accounts: keys, sessions, tokens that were sent by mail, addresses that mail comes in at."""
    sql = """
    with keys as (delete from api_key where user_id = any($1::bigint[])),
    sessions as (delete from browser_session where user_id = any($1::bigint[])),
    resets as (delete from password_reset where user_id = any($1::bigint[])),
    answers as (delete from reply_address where user_id = any($1::bigint[])),
    addresses as (delete from channel_address where sender_id = any($1::bigint[]))
    delete from email_change where user_id = any($1::bigint[])
    """
    await tx.execute(sql, user_ids)


async def delete_addresses(tx: Transaction, user_id: int, *, answers: bool) -> None:
    """Delete the addresses at which mail becomes messages of a user; those for answers to mails they got as well, or not."""
    sql = """
    with answers as (delete from reply_address where user_id = $1 and $2)
    delete from channel_address where sender_id = $1
    """
    await tx.execute(sql, user_id, answers)


async def delete_email_change(tx: Transaction, user_id: int) -> None:
    """Forget that a user asked for another address: they have it, or nobody confirms it any more."""
    await tx.execute("delete from email_change where user_id = $1", user_id)
