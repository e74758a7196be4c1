"""What can be done with sessions: they begin, they end, they are forgotten."""

import secrets
from collections.abc import Sequence

import msgspec

from tertulia.kernel.auth import Caller
from tertulia.kernel.bounds import hold_count
from tertulia.kernel.call import Call
from tertulia.kernel.chores import in_batches
from tertulia.kernel.cookies import drop_session_cookie, keep_session_cookie, session_digest
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.ids import digest_of_key
from tertulia.kernel.settings import Settings
from tertulia.organization.audit_log import Act, Proved, note, user
from tertulia.people.factors.actions import Cleared
from tertulia.people.logins.places import know_browser
from tertulia.people.logins.queries import Account, lock_provider
from tertulia.people.sessions import queries
from tertulia.people.sessions.bounds import SESSIONS
from tertulia.people.sessions.device import MAX_AGENT
from tertulia.people.sessions.new_browser import tell_of_browser
from tertulia.people.sessions.oidc.flow import ProviderLogin
from tertulia.people.sessions.oidc.logout import Logout
from tertulia.people.users.authentication.holding import hold_access
from tertulia.people.users.authentication.revocation import (
    end_everything_else,
    end_oldest_sessions,
    end_provider_access,
    end_provider_session,
    end_session_at,
)

BATCH = 5000
TICKET_SECONDS = 86400
LOGOUT_SECONDS = 3600
"""Longer than a log-out token is good for, and than a login takes that the provider has confirmed."""


class Ended(msgspec.Struct, frozen=True):
    """How many sessions and keys ended."""

    sessions: int
    api_keys: int


async def begin_session(
    tx: Transaction,
    call: Call,
    settings: Settings,
    account: Account,
    cleared: Cleared,
    *,
    by_password: bool,
    login: ProviderLogin | None = None,
) -> str:
    """Log the account in at the browser that calls; returns the session's CSRF token. The browser's old session ends.

    `login`: at the provider, if it came from one; `hold_login` was called before.
    """
    assert cleared.user_id == account.id
    token, csrf_token = secrets.token_urlsafe(32), secrets.token_urlsafe(24)
    digest = digest_of_key(token)
    agent = (call.header("user-agent") or "")[:MAX_AGENT]
    origin = (login.issuer, login.session, login.proved) if login else ()
    begun = queries.NewSession(digest, csrf_token, call.peer, agent, *origin)
    await hold_count(tx, SESSIONS, account.id)
    made = await queries.insert_session(tx, account, begun, settings.session_idle_seconds, by_password=by_password)
    if made is None:
        # Turned off, or given another password, while we looked.
        raise Refusal("Wrong user name or password.", code="AUTHENTICATION_FAILED", status=401)
    session_id, realm_id = made
    proved = Proved(account.id, session_id=session_id)
    note(tx, realm_id, Act.LOGIN_SUCCEEDED, user(account.id), proved, by_password=(None, by_password))
    # The account is held by now. Whoever changes it takes it first, too, and its sessions then: nobody waits in a circle.
    if (old := session_digest(call, settings)) is not None:
        await end_session_at(tx, old)
    await end_oldest_sessions(tx, account.id, tx.bounds.limit(SESSIONS))
    keep_session_cookie(call, token, settings)
    if await know_browser(tx, call, settings, account.id):
        await tell_of_browser(tx, call, settings, account.id)
    return csrf_token


async def hold_login(tx: Transaction, login: ProviderLogin) -> None:
    """Refuse who was logged out by the provider meanwhile; until the commit it logs nobody out."""
    await lock_provider(tx, login.issuer, alone=False)
    if await queries.is_logged_out(tx, login.issuer, login.subject, login.session, login.issued):
        raise Refusal("You have been logged out at the provider. Please log in again.", status=401)


async def end_by_provider(database: Database, logout: Logout, subdomains: Sequence[str]) -> Ended | None:
    """End what a provider says has ended: one session or all of a person's. None if it has said so before."""
    async with database.transaction() as tx:
        await lock_provider(tx, logout.issuer, alone=True)
        if not await queries.insert_logout(tx, logout):
            return None
        known = None
        if logout.subject is not None:
            known = await queries.accounts_at(tx, logout.issuer, logout.subject, subdomains)
        # As everybody who ends a person's sessions and keys: whoever replaces a key meanwhile holds the account as well.
        await queries.hold_people(tx, logout.issuer, logout.session, known)
        if logout.session is not None:
            return Ended(*await end_provider_session(tx, logout.issuer, logout.session, known))
        return Ended(*await end_provider_access(tx, logout.issuer, known or []))


async def end_session(tx: Transaction, call: Call, settings: Settings) -> None:
    """Log the browser that calls out."""
    if (digest := session_digest(call, settings)) is not None:
        await end_session_at(tx, digest)
    drop_session_cookie(call, settings)


async def end_others(tx: Transaction, caller: Caller, current: bytes | None) -> Ended:
    """End all sessions and keys of the caller but the one that calls. The account is held: a key that is replaced at this very
    moment would come back as another one."""
    await hold_access(tx, caller)
    return Ended(*await end_everything_else(tx, caller.user_id, current, caller.key_id))


async def make_ticket(tx: Transaction, user_id: int) -> str:
    """Make a ticket that logs somebody in once (see development_link/routes.py)."""
    ticket = secrets.token_urlsafe(24)
    await queries.insert_ticket(tx, user_id, digest_of_key(ticket), secrets.token_urlsafe(24), TICKET_SECONDS)
    return ticket


async def forget_old_sessions(database: Database) -> int:
    """Delete sessions that have expired, in batches that hold no lock for long; returns how many."""
    return await in_batches(database, BATCH, lambda tx: queries.delete_expired(tx, BATCH))


async def forget_old_logouts(database: Database) -> int:
    """Delete what is known of log-outs at providers, once it can make no difference; returns how many."""
    return await in_batches(database, BATCH, lambda tx: queries.delete_old_logouts(tx, LOGOUT_SECONDS, BATCH))
