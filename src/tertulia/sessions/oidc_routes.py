"""The two addresses of a login at a provider: a browser is sent there, and comes back."""

import hmac
import time
from typing import Annotated
from urllib.parse import urlencode

import msgspec
import structlog

from tertulia.kernel.call import Call
from tertulia.kernel.cookies import cookie_line, find_cookie
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.endpoint import Reply, get
from tertulia.kernel.errors import Refusal, not_found
from tertulia.kernel.page import show_text
from tertulia.kernel.settings import Settings
from tertulia.logins.queries import Account
from tertulia.realms.queries import Realm
from tertulia.realms.routes import get_realm_of, realm_url
from tertulia.sessions.actions import begin_session
from tertulia.sessions.flow import COOKIE, SECONDS, Flow, hide_key, is_otp, seal, unseal
from tertulia.sessions.origin import local_path
from tertulia.sessions.people import account_of
from tertulia.sessions.provider import Provider, ProviderFailure
from tertulia.users.actions import create_api_key
from tertulia.users.arrival import Arrival

log = structlog.get_logger()

Key = Annotated[str, msgspec.Meta(max_length=100)]


class Providers:
    """All providers of this server, as a service."""

    def __init__(self, settings: Settings) -> None:
        self._providers = {chosen.name: Provider(chosen) for chosen in settings.oidc_providers}

    def get(self, name: str, realm: Realm) -> Provider:
        """The provider of that name, which knows the people of the organization."""
        found = self._providers.get(name)
        if found is None or realm.subdomain not in found.chosen.realms:
            raise not_found()
        return found


@get("/accounts/login/oidc/{provider}", prefix="", listed=False)
async def go_to_provider(
    call: Call, database: Database, settings: Settings, providers: Providers,
    *, provider: str, next: str | None = None, mobile_flow_otp: str | None = None, invitation: Key | None = None,
) -> Reply:  # fmt: skip
    """Send the browser to a provider to log in there. `next` is a path of ours to go to afterwards.

    With `mobile_flow_otp` an API key goes to the app that made it, hidden by it, instead of a session to the browser.
    `invitation` is the key of an invitation, for who has no account yet.
    """
    realm = await _realm_of(call, database)
    chosen = providers.get(provider, realm)
    if mobile_flow_otp is not None and not is_otp(mobile_flow_otp):
        return _failed("The app sent a wrong `mobile_flow_otp`: it has 64 hexadecimal digits.", 400)
    flow = Flow(
        provider, realm.subdomain, local_path(next), mobile_flow_otp, time.time() + SECONDS, invitation=invitation
    )
    try:
        url = await chosen.login_url(flow, _callback_url(realm, call, settings, provider))
    except ProviderFailure as failure:
        return _provider_failed(provider, failure)
    call.add_header("set-cookie", cookie_line(COOKIE, seal(flow, chosen.chosen.client_secret), settings, SECONDS))
    return _go(url)


@get("/accounts/login/oidc/{provider}/callback", prefix="", listed=False)
async def come_back(
    call: Call, database: Database, settings: Settings, providers: Providers, arrival: Arrival,
    *, provider: str, code: str | None = None, state: str | None = None, iss: str | None = None,
    error: str | None = None,
) -> Reply:  # fmt: skip
    """The browser is back: find out who it is, and log them in."""
    realm = await _realm_of(call, database)
    chosen = providers.get(provider, realm)
    flow = _flow_of(call, settings, chosen, realm, state)
    if flow is None:
        return _failed("This login was not begun at this browser, or too long ago. Please begin again.", 400)
    try:
        if error or not code or iss not in (None, chosen.chosen.issuer):
            raise ProviderFailure(f"error={error!r} iss={iss!r}")
        person = await chosen.identify(flow, code, _callback_url(realm, call, settings, provider))
        account = await account_of(database, realm, person, arrival, flow.invitation)
        reply = await _log_in(call, database, settings, realm, account, flow)
    except ProviderFailure as failure:
        reply = _provider_failed(provider, failure)
    except Refusal as refusal:
        reply = _failed(refusal.msg, refusal.status)
    call.add_header("set-cookie", cookie_line(COOKIE, "", settings, 0))  # a login is tried once
    return reply


async def _log_in(
    call: Call, database: Database, settings: Settings, realm: Realm, account: Account, flow: Flow
) -> Reply:
    async with database.transaction() as tx:
        if flow.otp is None:
            await begin_session(tx, call, settings, account, by_password=False)
            return _go(flow.next)
        return await _to_app(tx, call, settings, realm, account, flow.otp)


async def _to_app(tx: Transaction, call: Call, settings: Settings, realm: Realm, account: Account, otp: str) -> Reply:
    key = await create_api_key(tx, account.id, call.client)
    answer = {
        "realm": realm_url(realm, call, settings),
        "email": account.email,
        "user_id": account.id,
        "otp_encrypted_api_key": hide_key(key, otp),
    }
    return _go(f"{settings.app_scheme}://login?{urlencode(answer)}")


def _flow_of(call: Call, settings: Settings, chosen: Provider, realm: Realm, state: str | None) -> Flow | None:
    """The login that this browser began with this provider, if `state` says that it is this one."""
    sealed = find_cookie(call, COOKIE, settings)
    flow = unseal(sealed, chosen.chosen.client_secret, time.time()) if sealed else None
    if flow is None or state is None or not hmac.compare_digest(flow.state.encode(), state.encode()):
        return None
    return flow if (flow.provider, flow.subdomain) == (chosen.chosen.name, realm.subdomain) else None


def _callback_url(realm: Realm, call: Call, settings: Settings, provider: str) -> str:
    return f"{realm_url(realm, call, settings)}/accounts/login/oidc/{provider}/callback"


def _go(url: str) -> Reply:
    return Reply(b"", 302, {"Location": url, "Referrer-Policy": "no-referrer"}, "text/plain")


def _failed(text: str, status: int) -> Reply:
    return show_text("You are not logged in", text, status)


def _provider_failed(provider: str, failure: ProviderFailure) -> Reply:
    log.warning("a login at a provider failed", provider=provider, why=str(failure), is_away=failure.is_away)
    if failure.is_away:
        return _failed("The provider cannot be reached right now. Please try again.", 503)
    return _failed("The provider did not confirm who you are. Please begin again.", 401)


async def _realm_of(call: Call, database: Database) -> Realm:
    async with database.reader() as reader:
        return await get_realm_of(call, reader)
