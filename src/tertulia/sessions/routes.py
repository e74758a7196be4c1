"""Endpoints of the sessions feature: a browser logs in, asks who it is, and logs out."""

import msgspec

from tertulia.kernel.auth import Anyone, Human
from tertulia.kernel.cookies import drop_session_cookie, session_digest
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.endpoint import Call, delete, get, post
from tertulia.kernel.errors import Refusal, unauthorized
from tertulia.kernel.settings import Settings
from tertulia.logins.login import PasswordLogin
from tertulia.logins.queries import end_sessions
from tertulia.realms.routes import get_realm_of
from tertulia.sessions import queries
from tertulia.sessions.actions import begin_session, end_session
from tertulia.sessions.origin import check_same_origin


class Session(msgspec.Struct):
    """Who is logged in, and the token that requests other than GET have to carry in the header X-CSRF-Token."""

    user_id: int
    email: str
    csrf_token: str


@post("/sessions")
async def log_in(
    call: Call, database: Database, settings: Settings, login: PasswordLogin, *, username: str, password: str
) -> Session:
    """Log in at a browser: the answer sets a cookie, and requests with it need no authorization header.

    Wrong passwords are answered and counted as by POST /fetch_api_key. The browser's earlier session ends.
    """
    check_same_origin(call, settings)
    async with database.reader() as reader:
        realm = await get_realm_of(call, reader)
    account = await login.log_in(realm, username, password)
    async with database.transaction() as tx:
        csrf_token = await begin_session(tx, call, settings, account, by_password=True)
    return Session(account.id, account.email, csrf_token)


@get("/sessions/current")
async def get_session(caller: Anyone, call: Call, reader: Reader, settings: Settings) -> Session:
    """Who is logged in at this browser, and the CSRF token, for a page that was just loaded."""
    digest = session_digest(call, settings)
    token = await queries.find_csrf_token(reader, digest, caller.user_id) if caller and digest else None
    if caller is None or token is None:
        raise unauthorized("There is no session at this browser.", call.subdomain or "tertulia", scheme="Session")
    return Session(caller.user_id, caller.email, token)


@delete("/sessions/current")
async def log_out(_caller: Human, call: Call, tx: Transaction, settings: Settings) -> None:
    """Log this browser out, at once and on every node."""
    if not call.by_session:
        raise Refusal("This request was made with an API key, not by a browser's session.")
    await end_session(tx, call, settings)


class Sessions(msgspec.Struct):
    """The answer of GET /sessions."""

    sessions: list[queries.OwnSession]


@get("/sessions")
async def get_sessions(caller: Human, call: Call, reader: Reader, settings: Settings) -> Sessions:
    """The browsers you are logged in at. `last_used` is exact to the hour; `is_current`: the one that asks."""
    current = session_digest(call, settings) if call.by_session else None
    return Sessions(await queries.sessions_of(reader, caller.user_id, current))


@delete("/sessions/{session_id}")
async def end_one_session(caller: Human, tx: Transaction, *, session_id: int) -> None:
    """Log one of your browsers out, at once and on every node."""
    if not await queries.delete_own_session(tx, caller.user_id, session_id):
        raise Refusal("You have no such session.")


@delete("/sessions")
async def log_out_everywhere(caller: Human, call: Call, tx: Transaction, settings: Settings) -> None:
    """Log all your browsers out. API keys stay."""
    await end_sessions(tx, caller.user_id)
    if call.by_session:
        drop_session_cookie(call, settings)
