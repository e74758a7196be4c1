"""What can be done with sessions: they begin, they end, they are forgotten."""

import secrets

from tertulia.kernel.call import Call
from tertulia.kernel.cookies import SESSION_SECONDS, drop_session_cookie, keep_session_cookie, session_digest
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.ids import digest_of_key
from tertulia.kernel.settings import Settings
from tertulia.logins.queries import Account
from tertulia.sessions import queries

BATCH = 5000
TICKET_SECONDS = 86400


async def begin_session(tx: Transaction, call: Call, settings: Settings, account: Account, *, by_password: bool) -> str:
    """Log the account in at the browser that calls; the session's CSRF token. The browser's old session ends."""
    if (old := session_digest(call, settings)) is not None:
        await queries.delete_session(tx, old)
    token, csrf_token = secrets.token_urlsafe(32), secrets.token_urlsafe(24)
    digest = digest_of_key(token)
    if not await queries.insert_session(tx, account, digest, csrf_token, SESSION_SECONDS, by_password=by_password):
        # Turned off, or given another password, while we looked.
        raise Refusal("Wrong user name or password.", code="AUTHENTICATION_FAILED", status=401)
    keep_session_cookie(call, token, settings)
    return csrf_token


async def end_session(tx: Transaction, call: Call, settings: Settings) -> None:
    """Log the browser that calls out."""
    if (digest := session_digest(call, settings)) is not None:
        await queries.delete_session(tx, digest)
    drop_session_cookie(call, settings)


async def make_ticket(tx: Transaction, user_id: int) -> str:
    """What logs somebody in once (see `link_routes`)."""
    ticket = secrets.token_urlsafe(24)
    await queries.insert_ticket(tx, user_id, digest_of_key(ticket), secrets.token_urlsafe(24), TICKET_SECONDS)
    return ticket


async def forget_old_sessions(database: Database) -> int:
    """Delete sessions that have expired, in batches that hold no lock for long; how many."""
    total = 0
    while True:
        async with database.transaction() as tx:
            done = await queries.delete_expired(tx, BATCH)
        total += done
        if done < BATCH:
            return total
