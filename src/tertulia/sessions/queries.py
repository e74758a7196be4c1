"""SQL of the sessions feature: one statement per function."""

import msgspec

from tertulia.kernel.db import Reader, Transaction
from tertulia.logins.queries import Account, get_account


async def insert_session(
    tx: Transaction, account: Account, digest: bytes, csrf_token: str, seconds: int, *, by_password: bool
) -> bool:
    """A session for who logged in, unless the account was turned off meanwhile, or the password they gave changed."""
    sql = """
    insert into browser_session (digest, user_id, csrf_token, expires)
    select $2, id, $3, now() + make_interval(secs => $4) from account
    where id = $1 and is_active and (not $6 or password_hash is not distinct from $5) for share
    returning true
    """
    values = (account.id, digest, csrf_token, seconds, account.password_hash, by_password)
    return bool(await tx.fetchval(sql, *values))


async def find_csrf_token(reader: Reader, digest: bytes, user_id: int) -> str | None:
    """What unsafe requests of the session have to carry."""
    sql = "select csrf_token from browser_session where digest = $1 and user_id = $2"
    token: str | None = await reader.fetchval(sql, digest, user_id)
    return token


class OwnSession(msgspec.Struct, frozen=True):
    """A browser somebody is logged in at, as they see it."""

    id: int
    created: int
    last_used: int
    is_current: bool


async def sessions_of(reader: Reader, user_id: int, current: bytes | None) -> list[OwnSession]:
    """Where somebody is logged in, the oldest session first."""
    sql = """
    select id, extract(epoch from created)::bigint as created, extract(epoch from last_used)::bigint as last_used,
        digest is not distinct from $2 as is_current
    from browser_session where user_id = $1 and expires > now() order by id
    """
    return [OwnSession(**row) for row in await reader.fetch(sql, user_id, current)]


async def delete_own_session(tx: Transaction, user_id: int, session_id: int) -> bool:
    """End one of somebody's sessions; whether there was such a one."""
    sql = "delete from browser_session where user_id = $1 and id = $2 returning true"
    return bool(await tx.fetchval(sql, user_id, session_id))


async def delete_session(tx: Transaction, digest: bytes) -> None:
    """End a session."""
    await tx.execute("delete from browser_session where digest = $1", digest)


async def delete_expired(tx: Transaction, limit: int) -> int:
    """Forget sessions that are over; how many."""
    sql = """
    delete from browser_session where digest in (
        select digest from browser_session where expires < now() limit $1 for update skip locked
    )
    """
    return int((await tx.execute(sql, limit)).split()[-1])


# Tickets: what a link carries that logs in once, in development. No session's CSRF token begins as theirs do.


async def insert_ticket(tx: Transaction, user_id: int, digest: bytes, secret: str, seconds: int) -> None:
    """A ticket for somebody."""
    sql = """
    insert into browser_session (digest, user_id, csrf_token, expires)
    values ($1, $2, 'ticket:' || $3, now() + make_interval(secs => $4))
    """
    await tx.execute(sql, digest, user_id, secret, seconds)


async def take_ticket(tx: Transaction, digest: bytes) -> int | None:
    """Whose ticket it is; it is used up."""
    sql = """
    delete from browser_session where digest = $1 and expires > now() and starts_with(csrf_token, 'ticket:')
    returning user_id
    """
    found: int | None = await tx.fetchval(sql, digest)
    return found


# People at identity providers


async def find_by_identity(reader: Reader, realm_id: int, issuer: str, subject: str) -> Account | None:
    """The account of a person of that provider who has logged in before."""
    sql = "select user_id from external_identity where realm_id = $1 and provider = $2 and subject = $3"
    user_id: int | None = await reader.fetchval(sql, realm_id, issuer, subject)
    return None if user_id is None else await get_account(reader, user_id)


async def insert_identity(tx: Transaction, realm_id: int, issuer: str, subject: str, user_id: int) -> bool:
    """Remember whose account this person has; False if somebody else was quicker."""
    sql = """
    insert into external_identity (realm_id, provider, subject, user_id) values ($1, $2, $3, $4)
    on conflict do nothing returning true
    """
    return bool(await tx.fetchval(sql, realm_id, issuer, subject, user_id))
