"""Endpoints of the sessions feature: a browser logs in, asks who it is, and logs out."""

from typing import Annotated

import msgspec

from tertulia.kernel.auth import Anyone, Human
from tertulia.kernel.cookies import drop_session_cookie, session_digest
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.endpoint import Call, delete, get, post
from tertulia.kernel.errors import Refusal, unauthorized
from tertulia.kernel.settings import Settings
from tertulia.organization.realms.routes import get_realm_of
from tertulia.people.factors.actions import CodeNeeded, SecondStep, Setup
from tertulia.people.factors.passkeys.party import party_of
from tertulia.people.logins.login import PasswordLogin
from tertulia.people.logins.places import origin_of
from tertulia.people.sessions import queries
from tertulia.people.sessions.actions import Ended, begin_session, end_others, end_session
from tertulia.people.sessions.origin import check_same_origin
from tertulia.people.users.assertion import Assertion
from tertulia.people.users.authentication import revocation
from tertulia.people.users.reauthentication import Proof, Reauthentication

Code = Annotated[str, msgspec.Meta(max_length=40)]


class Session(msgspec.Struct):
    """Who is logged in, and the token that requests other than GET have to carry in the header X-CSRF-Token."""

    user_id: int
    email: str
    csrf_token: str
    recovery_codes: list[str] | msgspec.UnsetType = msgspec.UNSET
    """Of a second factor that was set up with this login; they are not shown again."""


@post("/sessions", while_frozen=True)
async def log_in(
    call: Call, database: Database, settings: Settings, login: PasswordLogin,
    *, username: str, password: str, code: Code | None = None, passkey: Assertion | None = None,
) -> Session:  # fmt: skip
    """Log in at a browser: the answer sets a cookie, and requests with it need no authorization header.

    Wrong passwords are answered and counted as by POST /fetch_api_key. The browser's earlier session ends. Who has a second
    factor sends a `code` of the authenticator too, or a recovery code, or a `passkey`: without it a right password is answered
    with 401 SECOND_FACTOR_REQUIRED, whose `methods` say what would do, and whose `passkey` the browser asks with.
    """
    check_same_origin(call, settings)
    async with database.reader() as reader:
        realm = await get_realm_of(call, reader)
    party = party_of(realm, call, settings)
    try:
        step = SecondStep(code, passkey, party)
        entered = await login.log_in(realm, username, password, origin_of(call, settings), step)
    except CodeNeeded as needed:
        await login.offer_passkeys(realm, party, needed)
        raise
    account, cleared = entered.account, entered.cleared
    async with database.transaction() as tx:
        csrf_token = await begin_session(tx, call, settings, account, cleared, by_password=True)
    codes = list(cleared.recovery_codes) or msgspec.UNSET
    return Session(account.id, account.email, csrf_token, codes)


@post("/sessions/factor", while_frozen=True)
async def set_up_factor(
    call: Call, database: Database, settings: Settings, login: PasswordLogin, *, username: str, password: str
) -> Setup:
    """A secret for your authenticator, if your organization lets you in only with one, and you have none.

    That is the answer 401 SECOND_FACTOR_SETUP_REQUIRED of POST /sessions. Then log in with a `code` of it.
    """
    check_same_origin(call, settings)
    async with database.reader() as reader:
        realm = await get_realm_of(call, reader)
    return await login.set_up_factor(realm, username, password, origin_of(call, settings))


@get("/sessions/current")
async def get_session(caller: Anyone, call: Call, reader: Reader, settings: Settings) -> Session:
    """Who is logged in at this browser, and the CSRF token, for a page that was just loaded."""
    digest = session_digest(call, settings)
    token = await queries.find_csrf_token(reader, digest, caller.user_id) if caller and digest else None
    if caller is None or token is None:
        raise unauthorized("There is no session at this browser.", call.subdomain or "tertulia", scheme="Session")
    return Session(caller.user_id, caller.email, token)


@delete("/sessions/current", while_frozen=True)
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
    """The browsers you are logged in at. `last_used` is exact to the hour; `is_current`: the one that asks.

    `device` and `address` are those of the login.
    """
    current = session_digest(call, settings) if call.by_session else None
    return Sessions(await queries.sessions_of(reader, caller.user_id, current))


@delete("/sessions/{session_id}")
async def end_one_session(
    caller: Human, call: Call, database: Database, settings: Settings, again: Reauthentication,
    *, session_id: int, password: str | None = None, code: str | None = None, passkey: Assertion | None = None,
) -> None:  # fmt: skip
    """Log one of your browsers out, at once and on every node. Any but this one needs your password."""
    current = session_digest(call, settings) if call.by_session else None
    async with database.reader() as reader:
        known = {one.id: one.is_current for one in await queries.sessions_of(reader, caller.user_id, current)}
    if session_id not in known:
        raise _no_such_session()
    if not known[session_id]:
        await again.check(caller, call, Proof(password, code, passkey))
    async with database.transaction() as tx:
        if not await revocation.end_session(tx, caller.user_id, session_id):
            raise _no_such_session()


@post("/sessions/end_others")
async def end_everything_else(
    caller: Human, call: Call, database: Database, settings: Settings, again: Reauthentication,
    *, password: str | None = None, code: str | None = None, passkey: Assertion | None = None,
) -> Ended:  # fmt: skip
    """End all your sessions and API keys but the one of this call. Needs your password."""
    await again.check(caller, call, Proof(password, code, passkey))
    current = session_digest(call, settings) if call.by_session else None
    async with database.transaction() as tx:
        return await end_others(tx, caller, current)


@delete("/sessions")
async def log_out_everywhere(
    caller: Human, call: Call, database: Database, settings: Settings, again: Reauthentication,
    *, password: str | None = None, code: str | None = None, passkey: Assertion | None = None,
) -> None:  # fmt: skip
    """Log all your browsers out. API keys stay. Needs your password."""
    await again.check(caller, call, Proof(password, code, passkey))
    async with database.transaction() as tx:
        await revocation.end_sessions(tx, caller.user_id)
    if call.by_session:
        drop_session_cookie(call, settings)


def _no_such_session() -> Refusal:
    return Refusal("You have no such session.")
