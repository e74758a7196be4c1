"""The addresses of a login at a provider: a browser is sent there and comes back; the provider says when it has ended."""

import hmac
import time
from html import escape
from typing import Annotated
from urllib.parse import urlencode

import msgspec
import structlog

from tertulia.kernel.call import Call
from tertulia.kernel.cookies import cookie_line, find_cookie
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.endpoint import Reply, get, post
from tertulia.kernel.errors import Refusal, not_found
from tertulia.kernel.ids import digest_of_key
from tertulia.kernel.languages import language_for
from tertulia.kernel.page import show_page, show_text
from tertulia.kernel.reply import success_body
from tertulia.kernel.settings import Settings
from tertulia.organization.audit_log import Act, Proved, Word, note, user
from tertulia.organization.realms.queries import Realm
from tertulia.organization.realms.routes import get_realm_of, realm_url
from tertulia.people.directories.membership import follow
from tertulia.people.directories.rules import standing_of
from tertulia.people.factors.actions import REQUIRED, Cleared, CodeNeeded, clear, trust
from tertulia.people.logins.login import PasswordLogin, check_active, somebody
from tertulia.people.logins.queries import Account, get_account, note_key_address, note_key_provider
from tertulia.people.logins.reauthentication import YOUNG_SECONDS
from tertulia.people.sessions.actions import begin_session, end_by_provider, hold_login
from tertulia.people.sessions.oidc.failure import ProviderFailure
from tertulia.people.sessions.oidc.flow import COOKIE, SECONDS, Flow, hide_key, is_otp, seal, unseal
from tertulia.people.sessions.oidc.people import account_of, login_of
from tertulia.people.sessions.oidc.provider import Provider
from tertulia.people.sessions.origin import is_led_here, local_path
from tertulia.people.sessions.words import Words, words_of
from tertulia.people.users.actions import create_api_key
from tertulia.people.users.arrival import Arrival
from tertulia.people.users.model import KeyOrigin

log = structlog.get_logger()

Key = Annotated[str, msgspec.Meta(max_length=100)]
Token = Annotated[str, msgspec.Meta(max_length=16_384)]


_CODE_FORM = """
<p>{text}</p>
<form method="post" action="/accounts/login/oidc/{provider}/code">
<input type="hidden" name="state" value="{state}">
<p><label>{label} <input name="code" maxlength="40" required autocomplete="one-time-code" autofocus></label></p>
<p><button>{button}</button></p>
</form>
"""


class Providers:
    """All providers of this server, as a service."""

    def __init__(self, settings: Settings) -> None:
        self._providers = {
            chosen.name: Provider(chosen, settings.session_max_seconds) for chosen in settings.oidc_providers
        }

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
    again: bool = False,
) -> Reply:  # fmt: skip
    """Send the browser to a provider to log in there. `next` is a path of ours to go to afterwards.

    With `mobile_flow_otp` an API key goes to the app that made it, hidden by it, instead of a session to the browser.
    `invitation` is the key of an invitation, for who has no account yet. `again`: the provider is to ask who is there, even
    if it knows the browser; what needs a login of the last minutes needs this.
    """
    realm = await _realm_of(call, database)
    chosen, words = providers.get(provider, realm), _words(call, realm)
    if mobile_flow_otp is not None and not is_otp(mobile_flow_otp):
        return _failed(words, "The app sent a wrong `mobile_flow_otp`: it has 64 hexadecimal digits.", 400)
    if is_led_here(call):
        asked = {"next": next, "mobile_flow_otp": mobile_flow_otp, "invitation": invitation}
        asked["again"] = "true" if again else None
        query = urlencode({name: value for name, value in asked.items() if value is not None})
        where = escape(f"/accounts/login/oidc/{provider}?{query}")
        link = escape(words.log_in_with.format(provider=chosen.chosen.display_name))
        body = f'<p>{escape(words.led_here_text)}</p><p><a href="{where}">{link}</a></p>'
        return show_page(words.led_here, body, language=words.language)
    flow = Flow(
        *(provider, realm.subdomain, local_path(next), mobile_flow_otp, time.time() + SECONDS),
        invitation=invitation,
        again=again,
    )
    try:
        url = await chosen.login_url(flow, _callback_url(realm, call, settings, provider))
    except ProviderFailure as failure:
        return _provider_failed(words, provider, failure)
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
    chosen, words = providers.get(provider, realm), _words(call, realm)
    flow = _flow_of(call, settings, chosen, realm, state)
    if flow is None:
        return _failed(words, words.begin_again, 400)
    try:
        if error or not code or iss not in (None, chosen.chosen.issuer):
            raise ProviderFailure(f"error={error!r} iss={iss!r}")
        person = await chosen.identify(flow, code, _callback_url(realm, call, settings, provider))
        if flow.again and person.proved is not None and person.proved < time.time() - YOUNG_SECONDS:
            raise Refusal(words.not_asked.format(provider=chosen.chosen.display_name), status=403)
        account = await account_of(database, realm, person, arrival, flow.invitation)
        if person.groups is not None:
            await follow(database, realm.id, account.id, standing_of(chosen.chosen.memberships, person.groups))
        flow = msgspec.structs.replace(flow, login=login_of(person))
        reply = await _log_in(call, database, settings, realm, account, flow)
    except CodeNeeded as needed:
        kept = msgspec.structs.replace(
            flow, user_id=needed.user_id, expires=time.time() + SECONDS, nonce="", verifier=""
        )
        call.add_header("set-cookie", cookie_line(COOKIE, seal(kept, chosen.chosen.client_secret), settings, SECONDS))
        return _code_form(words, needed, provider, flow.state)
    except ProviderFailure as failure:
        await _note_failure(database, realm, "provider")
        reply = _provider_failed(words, provider, failure)
    except Refusal as refusal:
        await _note_failure(database, realm, refusal.code.lower())
        reply = _failed(words, refusal.msg, refusal.status)
    call.add_header("set-cookie", cookie_line(COOKIE, "", settings, 0))  # a login is tried once
    return reply


@post("/accounts/login/oidc/{provider}/code", prefix="", listed=False, while_frozen=True)
async def come_back_with_code(
    call: Call, database: Database, settings: Settings, providers: Providers, login: PasswordLogin,
    *, provider: str, state: str, code: Key,
) -> Reply:  # fmt: skip
    """A code for a login that the provider has confirmed, where providers are not trusted to ask for a factor."""
    realm = await _realm_of(call, database)
    chosen, words = providers.get(provider, realm), _words(call, realm)
    flow = _flow_of(call, settings, chosen, realm, state)
    if flow is None or flow.user_id is None or flow.login is None:
        return _failed(words, words.begin_again, 400)
    try:
        async with database.reader() as reader:
            account = await get_account(reader, flow.user_id)
        check_active(account)
        cleared = await login.clear_confirmed(realm, account, code)
        reply = await _let_in(call, database, settings, realm, account, cleared, flow)
    except Refusal as refusal:
        return _failed(words, f"{refusal.msg} {words.try_again}", refusal.status)
    call.add_header("set-cookie", cookie_line(COOKIE, "", settings, 0))
    return reply


@post("/accounts/login/oidc/{provider}/logout", prefix="", listed=False)
async def log_out_by_provider(
    call: Call, database: Database, providers: Providers, *, provider: str, logout_token: Token
) -> Reply:
    """The provider says that somebody has logged out there, or was: their sessions here end with it.

    OpenID Connect Back-Channel Logout 1.0. Nobody needs credentials: the signature of the token says who speaks.
    """
    chosen = providers.get(provider, await _realm_of(call, database))
    try:
        logout = await chosen.read_logout(logout_token)
    except ProviderFailure as failure:
        log.warning("a provider's log-out failed", provider=provider, why=str(failure), is_away=failure.is_away)
        return _logout_failed("The token cannot be checked right now." if failure.is_away else "The token is not good.")
    ended = await end_by_provider(database, logout, chosen.chosen.realms)
    if ended is None:
        log.warning("a provider's log-out came a second time", provider=provider)
        return _logout_failed("The token was used before.")
    log.info("logged out by a provider", provider=provider, sessions=ended.sessions, api_keys=ended.api_keys)
    return Reply(success_body(None))


def _logout_failed(text: str) -> Reply:
    """With the names that OAuth has for it beside ours."""
    said = {
        "result": "error",
        "msg": text,
        "code": "BAD_REQUEST",
        "error": "invalid_request",
        "error_description": text,
    }
    return Reply(msgspec.json.encode(said), 400)


async def _log_in(
    call: Call, database: Database, settings: Settings, realm: Realm, account: Account, flow: Flow
) -> Reply:
    if settings.oidc_second_factor_trusted:
        cleared = trust(account.id)
    else:
        async with database.transaction() as tx:
            cleared = await clear(tx, realm, somebody(account))
    return await _let_in(call, database, settings, realm, account, cleared, flow)


async def _let_in(
    call: Call, database: Database, settings: Settings, realm: Realm, account: Account, cleared: Cleared, flow: Flow
) -> Reply:
    assert flow.login is not None
    async with database.transaction() as tx:
        await hold_login(tx, flow.login)
        if flow.otp is None:
            await begin_session(tx, call, settings, account, cleared, by_password=False, login=flow.login)
            return _go(flow.next)
        return await _to_app(tx, call, settings, realm, account, cleared, flow)


async def _to_app(
    tx: Transaction, call: Call, settings: Settings, realm: Realm, account: Account, cleared: Cleared, flow: Flow
) -> Reply:
    assert cleared.user_id == account.id
    assert flow.login is not None
    assert flow.otp is not None
    key = await create_api_key(tx, account.id, call.client, KeyOrigin.PROVIDER)
    await note_key_address(tx, digest_of_key(key), call.peer)
    await note_key_provider(tx, digest_of_key(key), flow.login.issuer, flow.login.session)
    note(tx, realm.id, Act.LOGIN_SUCCEEDED, user(account.id), Proved(account.id))
    answer = {
        "realm": realm_url(realm, call, settings),
        "email": account.email,
        "user_id": account.id,
        "otp_encrypted_api_key": hide_key(key, flow.otp),
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


def _failed(words: Words, text: str, status: int) -> Reply:
    return show_text(words.not_logged_in, text, status, language=words.language)


def _code_form(words: Words, needed: CodeNeeded, provider: str, state: str) -> Reply:
    """Asks for a code; whoever has no factor yet is told what to do, as the API says it."""
    text = words.code_text if needed.code == REQUIRED else needed.msg
    body = _CODE_FORM.format(
        text=escape(text), provider=provider, state=state, label=escape(words.code), button=escape(words.go_on)
    )
    return show_page(words.one_more_step, body, language=words.language)


def _words(call: Call, realm: Realm) -> Words:
    return words_of(language_for(call.header("accept-language"), realm.settings.default_language))


async def _note_failure(database: Database, realm: Realm, reason: str) -> None:
    async with database.transaction() as tx:
        note(tx, realm.id, Act.LOGIN_FAILED, reason=(None, Word(reason)))


def _provider_failed(words: Words, provider: str, failure: ProviderFailure) -> Reply:
    log.warning("a login at a provider failed", provider=provider, why=str(failure), is_away=failure.is_away)
    if failure.is_away:
        return _failed(words, words.provider_away, 503)
    return _failed(words, words.provider_failed, 401)


async def _realm_of(call: Call, database: Database) -> Realm:
    async with database.reader() as reader:
        return await get_realm_of(call, reader)
