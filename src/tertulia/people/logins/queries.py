"""SQL of the logins feature: one statement per function."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.limits import Rate


class Account(msgspec.Struct, frozen=True):
    """What a login needs to know of an account."""

    id: int
    email: str
    full_name: str
    is_active: bool
    password_hash: str | None
    is_in_directory: bool
    language: str = "en"


LDAP = "ldap"
"""The provider of people of the directory."""

_ACCOUNT = f"""
account.id, email, full_name, is_active, password_hash, coalesce(account.settings->>'default_language', 'en') as language,
exists (select from external_identity where user_id = account.id and provider = '{LDAP}') as is_in_directory
"""


async def find_account(reader: Reader, realm_id: int, email_key: str) -> Account | None:
    """The person with this address; bots do not log in."""
    sql = f"select {_ACCOUNT} from account where realm_id = $1 and email_key = $2 and bot_type is null"
    row = await reader.fetchrow(sql, realm_id, email_key)
    return Account(**row) if row else None


async def get_account(reader: Reader, user_id: int) -> Account:
    """An account that exists."""
    row = await reader.fetchrow(f"select {_ACCOUNT} from account where id = $1", user_id)
    assert row is not None
    return Account(**row)


# Failed attempts


class Failures(msgspec.Struct, frozen=True):
    """The attempts on a user name that count against the next one."""

    count: int
    pending: int
    seconds: float | None
    """How long until the count is below the limit again; None if it is."""


async def lock_name(tx: Transaction, realm_id: int, username_key: str) -> None:
    """Let one transaction at a time count the attempts on this name."""
    await tx.execute("select pg_advisory_xact_lock(hashtextextended($1, $2))", f"login {username_key}", realm_id)


async def count_failures(tx: Transaction, realm_id: int, username_key: str, place: str | None, limit: Rate) -> Failures:
    """The attempts from one place (None: from all networks) that a limit is about.

    A pending one that takes longer than a minute was cut off: it failed.
    """
    sql = """
    with recent as (
        select failed_at, is_pending and failed_at > clock_timestamp() - interval '1 minute' as is_pending,
               row_number() over (order by failed_at desc) as number
        from login_failure
        where realm_id = $1 and username_key = $2 and failed_at > clock_timestamp() - make_interval(secs => $4)
            and case when $5::text is null then not starts_with(place, 'device ') else place = $5 end
    )
    select count(*) as count, count(*) filter (where is_pending) as pending,
           extract(epoch from min(failed_at) filter (where number = $3) - clock_timestamp())::float8 + $4 as seconds
    from recent
    """
    row = await tx.fetchrow(sql, realm_id, username_key, limit.calls, limit.seconds, place)
    assert row is not None
    return Failures(**row)


async def insert_failure(tx: Transaction, realm_id: int, username_key: str, place: str) -> int:
    """Count an attempt whose outcome is open; returns its number."""
    sql = """
    insert into login_failure (realm_id, username_key, place, is_pending) values ($1, $2, $3, true) returning id
    """
    return int(await tx.fetchval(sql, realm_id, username_key, place))


async def settle_failure(tx: Transaction, attempt: int) -> None:
    """The attempt has failed."""
    await tx.execute("update login_failure set is_pending = false where id = $1", attempt)


async def forget_failure(tx: Transaction, attempt: int) -> None:
    """Delete an attempt that could not be made."""
    await tx.execute("delete from login_failure where id = $1", attempt)


async def clear_failures(tx: Transaction, realm_id: int, username_key: str, place: str | None = None) -> None:
    """A success: what failed at that place (None: anywhere) does not count any more."""
    sql = "delete from login_failure where realm_id = $1 and username_key = $2 and ($3::text is null or place = $3)"
    await tx.execute(sql, realm_id, username_key, place)


async def delete_old_failures(tx: Transaction, seconds: float, limit: int) -> int:
    """Forget what no longer counts; returns how many."""
    sql = """
    delete from login_failure where id in (
        select id from login_failure where failed_at < now() - make_interval(secs => $1) limit $2
        for update skip locked
    )
    """
    return int((await tx.execute(sql, seconds, limit)).split()[-1])


# Places


async def known_places(reader: Reader, user_id: int, places: Sequence[str], days: int) -> set[str]:
    """Which of these a user has logged in from."""
    sql = """
    select place from login_place
    where user_id = $1 and place = any($2::text[]) and last_used > now() - make_interval(days => $3)
    """
    return {row["place"] for row in await reader.fetch(sql, user_id, places, days)}


async def is_new_device(reader: Reader, user_id: int, device: str, days: int, most: int) -> bool:
    """Whether a user has logged in from other browsers, but not from this one, nor from so many others within an hour."""
    sql = """
    select coalesce(bool_and(place <> $2), false) and count(*) filter (where last_used > now() - interval '1 hour') < $4
    from login_place
    where user_id = $1 and place like 'device %' and last_used > now() - make_interval(days => $3)
    """
    return bool(await reader.fetchval(sql, user_id, device, days, most))


async def note_place(tx: Transaction, user_id: int, place: str, limit: int) -> None:
    """Remember where a user has logged in from, and forget all but so many of the others."""
    sql = """
    with forgotten as (
        delete from login_place where user_id = $1 and place in (
            select place from login_place where user_id = $1 and place <> $2 order by last_used desc offset $3 - 1
        )
    )
    insert into login_place (user_id, place) values ($1, $2)
    on conflict (user_id, place) do update set last_used = now() where login_place.last_used < now() - interval '1 day'
    """
    await tx.execute(sql, user_id, place, limit)


# Keys


class ApiKey(msgspec.Struct, frozen=True):
    """An API key as its owner sees it in a list; times are UNIX seconds."""

    id: int
    label: str
    created: int
    last_used: int | None
    address: str
    """The network address it was made from; empty: not known."""
    is_current: bool


async def keys_of(reader: Reader, user_id: int, current: int) -> list[ApiKey]:
    """A user's keys, in the order they were made."""
    sql = """
    select id, label, extract(epoch from created)::bigint as created, extract(epoch from last_used)::bigint as last_used,
        address, id = $2 as is_current
    from api_key where user_id = $1 order by id
    """
    return [ApiKey(**row) for row in await reader.fetch(sql, user_id, current)]


async def note_key_address(tx: Transaction, digest: bytes, address: str) -> None:
    """Remember where a key was made from."""
    await tx.execute("update api_key set address = $2 where digest = $1", digest, address)


async def lock_provider(tx: Transaction, issuer: str, *, alone: bool) -> None:
    """Let nobody log in through a provider, or replace a key that came from it, while it logs somebody out: one of the two sees
    what the other has done."""
    function = "pg_advisory_xact_lock" if alone else "pg_advisory_xact_lock_shared"
    await tx.execute(f"select {function}(hashtextextended($1, 0))", f"provider {issuer}")


async def issuer_of_key(reader: Reader, key_id: int) -> str | None:
    """Through which provider a key was got, if it was."""
    found: str | None = await reader.fetchval("select issuer from api_key where id = $1", key_id)
    return found


class KeyPast(msgspec.Struct, frozen=True):
    """What a key that replaces another one takes over from it."""

    created: datetime
    issuer: str | None
    provider_session: str | None


async def past_of_key(reader: Reader, key_id: int) -> KeyPast | None:
    """Since when there is a key, and where its login came from."""
    row = await reader.fetchrow("select created, issuer, provider_session from api_key where id = $1", key_id)
    return KeyPast(**row) if row else None


async def put_past(tx: Transaction, digest: bytes, past: KeyPast) -> None:
    """Let a key be as old as the one that it replaces, and end with the same session at a provider. It is in use now: it is not
    to end as one that nobody uses."""
    sql = "update api_key set created = $2, issuer = $3, provider_session = $4, last_used = now() where digest = $1"
    await tx.execute(sql, digest, past.created, past.issuer, past.provider_session)


async def note_key_provider(tx: Transaction, digest: bytes, issuer: str, session: str | None) -> None:
    """Remember through which provider an app got a key."""
    await tx.execute("update api_key set issuer = $2, provider_session = $3 where digest = $1", digest, issuer, session)


async def hold_password(tx: Transaction, user_id: int, password_hash: str | None) -> bool:
    """Whether an active account has this password; if so, it has until the commit."""
    sql = """
    select true from account where id = $1 and is_active and password_hash is not distinct from $2 for no key update
    """
    return bool(await tx.fetchval(sql, user_id, password_hash))


async def has_key(reader: Reader, user_id: int, key_id: int) -> bool:
    """Whether the user has such a key."""
    return bool(await reader.fetchval("select true from api_key where id = $1 and user_id = $2", key_id, user_id))


async def write_last_used(tx: Transaction, key_ids: Sequence[int]) -> int:
    """Note that the keys are in use, if the last note is older than an hour; returns how many were written."""
    sql = """
    update api_key set last_used = now() where id in (
        select id from api_key
        where id = any($1::bigint[]) and (last_used is null or last_used < now() - interval '1 hour')
        for no key update skip locked
    )
    """
    return int((await tx.execute(sql, key_ids)).split()[-1])


# Passwords


async def set_password(tx: Transaction, user_id: int, password_hash: str) -> None:
    """Store a new password; tokens to replace it end, and a wish for another address that was made by the old one. Who has
    one is no longer somebody of whom we only heard."""
    sql = """
    with ended as (delete from password_reset where user_id = $1), wish as (delete from email_change where user_id = $1)
    update account set password_hash = $2, is_imported_stub = is_imported_stub and $2 = '!' where id = $1
    """
    await tx.execute(sql, user_id, password_hash)


async def replace_password(tx: Transaction, user_id: int, old_hash: str | None, new_hash: str) -> bool:
    """As `set_password`, in place of that one. False if it has changed meanwhile."""
    sql = """
    with ended as (delete from password_reset where user_id = $1), wish as (delete from email_change where user_id = $1)
    update account set password_hash = $3 where id = $1 and password_hash is not distinct from $2 returning true
    """
    return bool(await tx.fetchval(sql, user_id, old_hash, new_hash))


async def rehash_password(tx: Transaction, user_id: int, old_hash: str | None, new_hash: str) -> None:
    """Store another hash of the same password, unless it has changed meanwhile."""
    sql = "update account set password_hash = $3 where id = $1 and password_hash = $2"
    await tx.execute(sql, user_id, old_hash, new_hash)


async def is_young_session(reader: Reader, user_id: int, digest: bytes, seconds: int) -> bool:
    """Whether the user proved so few seconds before who they are: when the session began, or before, if a provider says so."""
    sql = """
    select least(created, proved) > now() - make_interval(secs => $3) from browser_session
    where digest = $2 and user_id = $1
    """
    return bool(await reader.fetchval(sql, user_id, digest, seconds))


async def insert_reset(tx: Transaction, user_id: int, email_key: str, digest: bytes, seconds: int) -> None:
    """Insert a token that replaces a password."""
    sql = """
    insert into password_reset (digest, user_id, email_key, expires)
    values ($1, $2, $3, now() + make_interval(secs => $4))
    """
    await tx.execute(sql, digest, user_id, email_key, seconds)


async def find_reset_owner(reader: Reader, realm_id: int, digest: bytes) -> Account | None:
    """Whose password a token replaces, if it is valid."""
    sql = f"""
    select {_ACCOUNT} from account join password_reset on password_reset.user_id = account.id
    where digest = $2 and expires > now() and account.realm_id = $1 and is_active
        and account.email_key = password_reset.email_key
    """
    row = await reader.fetchrow(sql, realm_id, digest)
    return Account(**row) if row else None


async def use_reset(tx: Transaction, realm_id: int, digest: bytes) -> int | None:
    """Use a token up; returns whose it is, if it is valid."""
    sql = """
    delete from password_reset using account
    where digest = $2 and expires > now() and account.id = password_reset.user_id and account.realm_id = $1
        and account.is_active and account.email_key = password_reset.email_key
    returning account.id
    """
    user_id: int | None = await tx.fetchval(sql, realm_id, digest)
    return user_id


async def delete_old_tokens(tx: Transaction) -> int:
    """Delete tokens that are no longer valid."""
    sql = """
    with changes as (delete from email_change where expires < now() returning 1),
    resets as (delete from password_reset where expires < now() returning 1)
    select (select count(*) from changes) + (select count(*) from resets)
    """
    return int(await tx.fetchval(sql))


# Changes of address


class EmailChangeRequest(msgspec.Struct, frozen=True):
    """A change of address that waits to be confirmed, at both addresses."""

    user_id: int
    old_email_key: str
    new_email: str


class Agreement(msgspec.Struct, frozen=True):
    """A change of address after one more address has agreed."""

    request: EmailChangeRequest
    is_complete: bool


async def find_holder(reader: Reader, realm_id: int, email_key: str) -> int | None:
    """Whose address that is, bots included."""
    sql = "select id from account where realm_id = $1 and email_key = $2"
    found: int | None = await reader.fetchval(sql, realm_id, email_key)
    return found


async def put_email_change(
    tx: Transaction, request: EmailChangeRequest, digest: bytes, old_digest: bytes, seconds: int
) -> None:
    """Remember a request, in place of an earlier one. The digests are those of the new and of the old address."""
    sql = """
    insert into email_change (user_id, old_email_key, new_email, digest, old_digest, expires)
    values ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))
    on conflict (user_id) do update set old_email_key = excluded.old_email_key, new_email = excluded.new_email,
        digest = excluded.digest, old_digest = excluded.old_digest, expires = excluded.expires,
        is_new_agreed = false, is_old_agreed = false
    """
    values = (request.user_id, request.old_email_key, request.new_email, digest, old_digest, seconds)
    await tx.execute(sql, *values)


async def find_wisher(reader: Reader, realm_id: int, digest: bytes) -> int | None:
    """Whose request a token is about."""
    sql = """
    select user_id from email_change join account on account.id = user_id
    where $2 in (digest, old_digest) and realm_id = $1
    """
    found: int | None = await reader.fetchval(sql, realm_id, digest)
    return found


async def agree_to_email_change(tx: Transaction, realm_id: int, digest: bytes) -> Agreement | None:
    """Note that one of the two addresses agrees; None if the token is not valid."""
    sql = """
    update email_change set is_new_agreed = is_new_agreed or digest = $2, is_old_agreed = is_old_agreed or old_digest = $2
    from account
    where $2 in (digest, old_digest) and expires > now() and account.id = email_change.user_id and account.realm_id = $1
    returning user_id, old_email_key, new_email, is_new_agreed and is_old_agreed as is_complete
    """
    row = await tx.fetchrow(sql, realm_id, digest)
    if row is None:
        return None
    return Agreement(EmailChangeRequest(row["user_id"], row["old_email_key"], row["new_email"]), row["is_complete"])


# People whom others know: the directory, or a provider


async def find_by_identity(reader: Reader, realm_id: int, subject: str) -> Account | None:
    """The account of a person of the directory who has logged in before."""
    sql = f"""
    select {_ACCOUNT} from account join external_identity on external_identity.user_id = account.id
    where external_identity.realm_id = $1 and provider = '{LDAP}' and subject = $2
    """
    row = await reader.fetchrow(sql, realm_id, subject)
    return Account(**row) if row else None


async def insert_identity(tx: Transaction, realm_id: int, provider: str, subject: str, user_id: int) -> None:
    """Remember whose account this person has. `provider`: LDAP, or an issuer of OpenID Connect."""
    sql = """
    insert into external_identity (realm_id, provider, subject, user_id) values ($1, $2, $3, $4) on conflict do nothing
    """
    await tx.execute(sql, realm_id, provider, subject, user_id)


async def lock_identities(tx: Transaction, user_id: int) -> dict[str, str]:
    """Who vouches for an account: the person's own name at each provider. Nobody else adds one meanwhile."""
    await tx.execute("select from account where id = $1 for no key update", user_id)
    rows = await tx.fetch("select provider, subject from external_identity where user_id = $1", user_id)
    return {row["provider"]: row["subject"] for row in rows}


async def delete_identities(tx: Transaction, user_id: int) -> None:
    """Forget who vouches for an account."""
    await tx.execute("delete from external_identity where user_id = $1", user_id)


class DirectoryIdentity(msgspec.Struct, frozen=True):
    """Who somebody is in the directory."""

    subject: str
    username: str | None
    """What they typed at their last login; None: that was before it was noted."""


async def find_identity(reader: Reader, user_id: int) -> DirectoryIdentity | None:
    """Who the account's owner is in the directory."""
    sql = f"select subject, username from external_identity where user_id = $1 and provider = '{LDAP}'"
    row = await reader.fetchrow(sql, user_id)
    return DirectoryIdentity(**row) if row else None


async def find_by_username(reader: Reader, realm_id: int, username: str) -> int | None:
    """Who logged in last with that name of the directory."""
    sql = f"select user_id from external_identity where realm_id = $1 and provider = '{LDAP}' and username = $2 limit 1"
    found: int | None = await reader.fetchval(sql, realm_id, username)
    return found


async def note_username(tx: Transaction, realm_id: int, subject: str, username: str) -> None:
    """Remember the name that a person of the directory logged in with: their password is checked by it again."""
    sql = f"""
    update external_identity set username = $3
    where realm_id = $1 and provider = '{LDAP}' and subject = $2 and username is distinct from $3
    """
    await tx.execute(sql, realm_id, subject, username)
