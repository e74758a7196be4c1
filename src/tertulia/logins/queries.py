"""SQL of the logins feature: one statement per function."""

from collections.abc import Sequence

import msgspec

from tertulia.kernel.db import Reader, Transaction


class Account(msgspec.Struct, frozen=True):
    """What a login needs to know of an account."""

    id: int
    email: str
    full_name: str
    is_active: bool
    password_hash: str | None
    is_in_directory: bool


_ACCOUNT = """
account.id, email, full_name, is_active, password_hash,
exists (select from external_identity where user_id = account.id and provider = 'ldap') as is_in_directory
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


async def count_failures(tx: Transaction, realm_id: int, username_key: str, limit: int, seconds: float) -> Failures:
    """The attempts of the last so many seconds. A pending one that takes longer than a minute was cut off: it failed."""
    sql = """
    with recent as (
        select failed_at, is_pending and failed_at > clock_timestamp() - interval '1 minute' as is_pending,
               row_number() over (order by failed_at desc) as place
        from login_failure
        where realm_id = $1 and username_key = $2 and failed_at > clock_timestamp() - make_interval(secs => $4)
    )
    select count(*) as count, count(*) filter (where is_pending) as pending,
           extract(epoch from min(failed_at) filter (where place = $3) - clock_timestamp())::float8 + $4 as seconds
    from recent
    """
    row = await tx.fetchrow(sql, realm_id, username_key, limit, seconds)
    assert row is not None
    return Failures(**row)


async def insert_failure(tx: Transaction, realm_id: int, username_key: str) -> int:
    """Count an attempt whose outcome is open; its number."""
    sql = "insert into login_failure (realm_id, username_key, is_pending) values ($1, $2, true) returning id"
    return int(await tx.fetchval(sql, realm_id, username_key))


async def settle_failure(tx: Transaction, attempt: int) -> None:
    """The attempt has failed."""
    await tx.execute("update login_failure set is_pending = false where id = $1", attempt)


async def forget_failure(tx: Transaction, attempt: int) -> None:
    """The attempt could not be made."""
    await tx.execute("delete from login_failure where id = $1", attempt)


async def clear_failures(tx: Transaction, realm_id: int, username_key: str) -> None:
    """A success: nothing counts any more."""
    await tx.execute("delete from login_failure where realm_id = $1 and username_key = $2", realm_id, username_key)


async def delete_old_failures(tx: Transaction, seconds: float, limit: int) -> int:
    """Forget what no longer counts; how many."""
    sql = """
    delete from login_failure where id in (
        select id from login_failure where failed_at < now() - make_interval(secs => $1) limit $2
        for update skip locked
    )
    """
    return int((await tx.execute(sql, seconds, limit)).split()[-1])


# Keys


class ApiKey(msgspec.Struct, frozen=True):
    """An API key as its owner sees it in a list; times are UNIX seconds."""

    id: int
    label: str
    created: int
    last_used: int | None


async def keys_of(reader: Reader, user_id: int) -> list[ApiKey]:
    """A user's keys, in the order they were made."""
    sql = """
    select id, label, extract(epoch from created)::bigint as created, extract(epoch from last_used)::bigint as last_used
    from api_key where user_id = $1 order by id
    """
    return [ApiKey(**row) for row in await reader.fetch(sql, user_id)]


async def insert_key(tx: Transaction, user_id: int, digest: bytes, label: str, password_hash: str | None) -> bool:
    """A key for who knew the password, unless it was changed meanwhile, or the account turned off."""
    sql = """
    insert into api_key (user_id, digest, label)
    select id, $2, $3 from account where id = $1 and is_active and password_hash is not distinct from $4 for share
    returning true
    """
    return bool(await tx.fetchval(sql, user_id, digest, label, password_hash))


async def delete_key(tx: Transaction, user_id: int, key_id: int) -> str | None:
    """End one key of the user; its label, or None if they have no such key."""
    label: str | None = await tx.fetchval(
        "delete from api_key where id = $1 and user_id = $2 returning label", key_id, user_id
    )
    return label


async def delete_keys(tx: Transaction, user_id: int) -> None:
    """End all keys of a user."""
    await tx.execute("delete from api_key where user_id = $1", user_id)


async def write_last_used(tx: Transaction, key_ids: Sequence[int]) -> int:
    """Note that the keys are in use, if the last note is older than an hour; how many were written."""
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
    """Store a new password; tokens to replace it end."""
    sql = """
    with ended as (delete from password_reset where user_id = $1)
    update account set password_hash = $2 where id = $1
    """
    await tx.execute(sql, user_id, password_hash)


async def replace_password(tx: Transaction, user_id: int, old_hash: str | None, new_hash: str) -> bool:
    """Store a new password in place of that one; tokens to replace it end. False if it was another one by now."""
    sql = """
    with ended as (delete from password_reset where user_id = $1)
    update account set password_hash = $3 where id = $1 and password_hash is not distinct from $2 returning true
    """
    return bool(await tx.fetchval(sql, user_id, old_hash, new_hash))


async def end_sessions(tx: Transaction, user_id: int, keep: bytes | None = None) -> None:
    """Log a user out of every browser, or of all but one."""
    await tx.execute("delete from browser_session where user_id = $1 and digest is distinct from $2", user_id, keep)


async def insert_reset(tx: Transaction, user_id: int, email_key: str, digest: bytes, seconds: int) -> None:
    """A token that replaces a password."""
    sql = """
    insert into password_reset (digest, user_id, email_key, expires)
    values ($1, $2, $3, now() + make_interval(secs => $4))
    """
    await tx.execute(sql, digest, user_id, email_key, seconds)


async def find_reset_owner(reader: Reader, realm_id: int, digest: bytes) -> Account | None:
    """Whose password a token replaces, if it is good."""
    sql = f"""
    select {_ACCOUNT} from account join password_reset on password_reset.user_id = account.id
    where digest = $2 and expires > now() and account.realm_id = $1 and is_active
        and account.email_key = password_reset.email_key
    """
    row = await reader.fetchrow(sql, realm_id, digest)
    return Account(**row) if row else None


async def use_reset(tx: Transaction, realm_id: int, digest: bytes) -> int | None:
    """Use a token up; whose it is, if it is good."""
    sql = """
    delete from password_reset using account
    where digest = $2 and expires > now() and account.id = password_reset.user_id and account.realm_id = $1
        and account.is_active and account.email_key = password_reset.email_key
    returning account.id
    """
    user_id: int | None = await tx.fetchval(sql, realm_id, digest)
    return user_id


async def delete_old_tokens(tx: Transaction) -> int:
    """Forget tokens that are good for nothing."""
    sql = """
    with wishes as (delete from email_change where expires < now() returning 1),
    resets as (delete from password_reset where expires < now() returning 1)
    select (select count(*) from wishes) + (select count(*) from resets)
    """
    return int(await tx.fetchval(sql))


# Changes of address


class EmailWish(msgspec.Struct, frozen=True):
    """A change of address that waits to be confirmed."""

    user_id: int
    old_email_key: str
    new_email: str


async def find_holder(reader: Reader, realm_id: int, email_key: str) -> int | None:
    """Whose address that is, bots included."""
    sql = "select id from account where realm_id = $1 and email_key = $2"
    found: int | None = await reader.fetchval(sql, realm_id, email_key)
    return found


async def put_email_change(tx: Transaction, wish: EmailWish, digest: bytes, seconds: int) -> None:
    """Remember a wish, in place of an earlier one."""
    sql = """
    insert into email_change (user_id, old_email_key, new_email, digest, expires)
    values ($1, $2, $3, $4, now() + make_interval(secs => $5))
    on conflict (user_id) do update set old_email_key = excluded.old_email_key, new_email = excluded.new_email,
        digest = excluded.digest, expires = excluded.expires
    """
    await tx.execute(sql, wish.user_id, wish.old_email_key, wish.new_email, digest, seconds)


async def use_email_change(tx: Transaction, realm_id: int, digest: bytes) -> EmailWish | None:
    """Use a token up; what was wished, if it is good."""
    sql = """
    delete from email_change using account
    where digest = $2 and expires > now() and account.id = email_change.user_id and account.realm_id = $1
    returning user_id, old_email_key, new_email
    """
    row = await tx.fetchrow(sql, realm_id, digest)
    return EmailWish(**row) if row else None


# People of the directory


async def find_by_identity(reader: Reader, realm_id: int, subject: str) -> Account | None:
    """The account of a person of the directory who has logged in before."""
    sql = f"""
    select {_ACCOUNT} from account join external_identity on external_identity.user_id = account.id
    where external_identity.realm_id = $1 and provider = 'ldap' and subject = $2
    """
    row = await reader.fetchrow(sql, realm_id, subject)
    return Account(**row) if row else None


async def insert_identity(tx: Transaction, realm_id: int, subject: str, user_id: int) -> None:
    """Remember whose account this person of the directory has."""
    sql = """
    insert into external_identity (realm_id, provider, subject, user_id) values ($1, 'ldap', $2, $3)
    on conflict do nothing
    """
    await tx.execute(sql, realm_id, subject, user_id)
