"""SQL of the sessions feature: one statement per function."""

from collections.abc import Sequence

import msgspec

from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.mail_failures import IS_STOPPED
from tertulia.people.logins.queries import Account, get_account
from tertulia.people.sessions.device import device_of
from tertulia.people.sessions.oidc.logout import Logout


class NewSession(msgspec.Struct, frozen=True):
    """What is stored of a session when it begins."""

    digest: bytes
    csrf_token: str
    address: str
    agent: str
    """What the browser says of itself."""
    issuer: str | None = None
    """The provider it began at, and what the provider calls its own session."""
    provider_session: str | None = None
    proved: float | None = None
    """When the person had last proved to the provider who they are, if it says so."""


class Addressee(msgspec.Struct, frozen=True):
    """Who is told by mail of a login."""

    email: str
    full_name: str
    language: str
    realm_name: str
    subdomain: str


async def find_addressee(reader: Reader, user_id: int) -> Addressee | None:
    """Somebody who wants mails about logins, unless their address takes none."""
    sql = f"""
    select email, full_name, coalesce(account.settings->>'default_language', 'en') as language,
        realm.name as realm_name, realm.subdomain
    from account join realm on realm.id = account.realm_id
    left join mail_failure on mail_failure.email_key = account.email_key
    where account.id = $1 and coalesce((account.settings->>'enable_login_emails')::boolean, true)
        and {IS_STOPPED} is not true
    """
    row = await reader.fetchrow(sql, user_id)
    return None if row is None else Addressee(**row)


async def insert_session(
    tx: Transaction, account: Account, begun: NewSession, seconds: int, *, by_password: bool
) -> tuple[int, int] | None:
    """Insert a session for who logged in; its id and that of the realm. None: the account was deactivated meanwhile, or the
    password they gave changed."""
    sql = """
    insert into browser_session (digest, user_id, csrf_token, expires, address, agent, issuer, provider_session, proved)
    select $2, id, $3, now() + make_interval(secs => $4), $7, $8, $9, $10, to_timestamp($11::float8) from account
    where id = $1 and is_active and (not $6 or password_hash is not distinct from $5) for share
    returning id, (select realm_id from account where account.id = $1) as realm_id
    """
    values = (account.id, begun.digest, begun.csrf_token, seconds, account.password_hash, by_password)
    place = (begun.address, begun.agent, begun.issuer, begun.provider_session, begun.proved)
    row = await tx.fetchrow(sql, *values, *place)
    return None if row is None else (row["id"], row["realm_id"])


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
    device: str
    """Browser and system, as far as they are recognized."""
    address: str
    """The network address of the login; empty: not known."""
    ends: int
    """When it ends, unless it is used before."""


async def sessions_of(reader: Reader, user_id: int, current: bytes | None) -> list[OwnSession]:
    """Where somebody is logged in, the oldest session first."""
    sql = """
    select id, extract(epoch from created)::bigint as created, extract(epoch from last_used)::bigint as last_used,
        digest is not distinct from $2 as is_current, address, agent, extract(epoch from expires)::bigint as ends
    from browser_session where user_id = $1 and expires > now() and not starts_with(csrf_token, 'ticket:') order by id
    """
    rows = [dict(row) for row in await reader.fetch(sql, user_id, current)]
    return [OwnSession(device=device_of(row.pop("agent")), **row) for row in rows]


async def delete_expired(tx: Transaction, limit: int) -> int:
    """Forget sessions that are over; returns how many."""
    sql = """
    delete from browser_session where digest in (
        select digest from browser_session where expires < now() limit $1 for update skip locked
    )
    """
    return int((await tx.execute(sql, limit)).split()[-1])


# Tickets: what a link carries that logs in once, in development. No session's CSRF token begins as theirs do.


async def insert_ticket(tx: Transaction, user_id: int, digest: bytes, secret: str, seconds: int) -> None:
    """Insert a ticket for somebody."""
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


async def accounts_at(reader: Reader, issuer: str, subject: str, subdomains: Sequence[str]) -> list[int]:
    """The accounts of a person of that provider, in the organizations whose people it knows."""
    sql = """
    select user_id from external_identity join realm on realm.id = realm_id
    where provider = $1 and subject = $2 and subdomain = any($3::text[])
    """
    return [row["user_id"] for row in await reader.fetch(sql, issuer, subject, subdomains)]


# Log-outs at identity providers


async def hold_people(tx: Transaction, issuer: str, session: str | None, user_ids: Sequence[int] | None) -> None:
    """Hold the accounts that are about to lose what they got by a session at a provider, and these."""
    sql = """
    select from account where id in (
        select unnest($3::bigint[])
        union all select user_id from browser_session where issuer = $1 and provider_session = $2
        union all select user_id from api_key where issuer = $1 and provider_session = $2
    ) order by id for no key update
    """
    await tx.execute(sql, issuer, session, list(user_ids or ()))


async def insert_logout(tx: Transaction, logout: Logout) -> bool:
    """Remember that a provider logged somebody out; returns whether it is the first time that it says so."""
    sql = """
    insert into provider_logout (digest, issuer, subject, provider_session, issued)
    values ($1, $2, $3, $4, to_timestamp($5)) on conflict do nothing returning true
    """
    values = (logout.digest, logout.issuer, logout.subject, logout.session, logout.issued)
    return bool(await tx.fetchval(sql, *values))


async def is_logged_out(reader: Reader, issuer: str, subject: str, session: str | None, issued: float) -> bool:
    """Whether the provider ended this session, or all of this person's, since it confirmed who they are."""
    sql = """
    select exists (select from provider_logout where issuer = $1 and issued >= to_timestamp($4)
        and case when provider_session is null then subject = $2
            else provider_session = $3 and coalesce(subject, $2) = $2 end)
    """
    return bool(await reader.fetchval(sql, issuer, subject, session, issued))


async def delete_old_logouts(tx: Transaction, seconds: int, limit: int) -> int:
    """Forget log-outs that no token or login can be about any more; returns how many."""
    sql = """
    delete from provider_logout where digest in (
        select digest from provider_logout where received < now() - make_interval(secs => $1) limit $2
        for update skip locked
    )
    """
    return int((await tx.execute(sql, seconds, limit)).split()[-1])
