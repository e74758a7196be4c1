"""An OpenID Connect provider: where it sends people, and who they are when they come back.

The libraries (extra `oidc`) do the protocol: authorization code with PKCE, and the checks of the identity token. Only
signatures with a public key count. Every request has a time limit and goes where the provider's own description says;
redirects are not followed. Answers are short and not compressed, and few of their keys are looked at: whatever one provider
says is read in the event loop, where everybody else would wait for it.
"""

import asyncio
import ssl
import time
from contextlib import aclosing
from types import SimpleNamespace
from typing import Any

import msgspec
import structlog

from tertulia.kernel.login_settings import OidcProvider, is_safe_url
from tertulia.kernel.settings import SettingsError
from tertulia.people.sessions.oidc.failure import ProviderFailure
from tertulia.people.sessions.oidc.flow import Flow
from tertulia.people.sessions.oidc.logout import LAST_TIME, Logout, is_name, read_logout

log = structlog.get_logger()

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519", "EdDSA")
DESCRIPTION_SECONDS = 3600.0
KEYS_SECONDS = 10.0
"""Younger keys are not asked for again because a token does not fit: a flood of bad tokens is not passed on."""
REQUEST_SECONDS = 5.0
LOGIN_SECONDS = 15.0
LEEWAY_SECONDS = 60
MAX_ANSWER = 512 * 1024
MAX_KEYS = 100
"""Of one provider: ten times as many as any has."""
MAX_VALUES = 10_000
"""Of a claim: more groups than anybody is in."""


class Description(msgspec.Struct, frozen=True):
    """What a provider publishes about itself."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)

    @property
    def auth_method(self) -> str:
        """How we prove who we are."""
        known = self.token_endpoint_auth_methods_supported
        return "client_secret_basic" if "client_secret_basic" in known else "client_secret_post"


class Identity(msgspec.Struct, frozen=True):
    """Somebody whom the provider knows."""

    issuer: str
    subject: str
    email: str
    is_verified: bool
    full_name: str
    shares_people: bool
    """Whether the operator says that others vouch for the same people."""
    session: str | None = None
    """What the provider calls its own session with the browser: it names it when that ends."""
    issued: float = 0.0
    """When the provider said all this."""
    proved: float | None = None
    """When the person last proved to it who they are, which may have been weeks ago; None: it does not say."""
    groups: frozenset[str] | None = None
    """What the person belongs to there; None: we do not ask."""


class Provider:
    """One provider."""

    def __init__(self, chosen: OidcProvider, max_age: int) -> None:
        """`max_age`: whom it has not asked who they are for so many seconds, it is to ask."""
        self.chosen = chosen
        self._max_age = max_age
        self._library = load_library()
        # Once: reading the system's certificates takes a tenth of a second of the event loop, and strangers begin logins.
        self._tls = self._library.httpx2.create_ssl_context()
        self._lock = asyncio.Lock()
        self._description: tuple[float, Description] | None = None
        self._keys: tuple[float, Any] | None = None

    async def login_url(self, flow: Flow, redirect_uri: str) -> str:
        """Where to send a browser, so that it comes back to `redirect_uri`."""
        async with self._asking() as client:
            description = await self._describe(client)
            client.redirect_uri = redirect_uri
            # Who is asked for a max_age says when the person was asked last.
            asking = {"max_age": "0", "prompt": "login"} if flow.again else {"max_age": str(self._max_age)}
            url, _ = client.create_authorization_url(
                description.authorization_endpoint,
                state=flow.state,
                nonce=flow.nonce,
                code_verifier=flow.verifier,
                **asking,
            )
        return str(url)

    async def identify(self, flow: Flow, code: str, redirect_uri: str) -> Identity:
        """Who came back with that code."""
        async with self._asking() as client:
            description = await self._describe(client)
            client.token_endpoint_auth_method = description.auth_method
            token = await client.fetch_token(
                description.token_endpoint,
                grant_type="authorization_code",
                code=code,
                code_verifier=flow.verifier,
                redirect_uri=redirect_uri,
            )
            claims = await self._claims(client, description, token, flow)
            if description.userinfo_endpoint and (missing := self._missing(claims)):
                found = await self._userinfo(client, description.userinfo_endpoint, claims["sub"])
                claims |= {name: found[name] for name in missing if name in found}
        return _identity(self.chosen, claims)

    async def read_logout(self, text: str) -> Logout:
        """Who is logged out, as the provider says in a token of its own."""
        async with self._asking() as client:
            decoded = await self._decode(client, await self._describe(client), text)
            return read_logout(decoded.header, decoded.claims, self.chosen.issuer, self.chosen.client_id, time.time())

    def _missing(self, claims: dict[str, Any]) -> list[str]:
        """What to take from the user information: an address goes with what is said of it there."""
        missing = [] if "email" in claims else ["email", "email_verified", "name"]
        wanted = self.chosen.groups_claim
        if wanted and find_claim(claims, wanted) is None:
            missing += [wanted, wanted.partition(".")[0]]
        return missing

    def _asking(self) -> "_Asking":
        return _Asking(self.chosen, self._library, self._tls)

    async def _describe(self, client: Any) -> Description:
        async with self._lock:
            if self._description is None or self._description[0] < time.monotonic() - DESCRIPTION_SECONDS:
                url = self.chosen.issuer.rstrip("/") + "/.well-known/openid-configuration"
                found = msgspec.convert(await _get(client, url), Description)
                _check_description(found, self.chosen.issuer)
                self._description = (time.monotonic(), found)
            return self._description[1]

    async def _claims(self, client: Any, description: Description, token: dict[str, Any], flow: Flow) -> dict[str, Any]:
        """What the identity token says, after all checks."""
        text = token.get("id_token")
        if not isinstance(text, str):
            raise ProviderFailure("there is no identity token in its answer")
        decoded = await self._decode(client, description, text)
        options = {
            "iss": {"essential": True, "value": self.chosen.issuer},
            "aud": {"essential": True, "value": self.chosen.client_id},
            "nonce": {"essential": True, "value": flow.nonce},
        }
        told = {"nonce": flow.nonce, "client_id": self.chosen.client_id, "access_token": token.get("access_token")}
        claims = self._library.CodeIDToken(decoded.claims, decoded.header, options, told)
        claims.validate(leeway=LEEWAY_SECONDS)
        return dict(claims)

    async def _decode(self, client: Any, description: Description, text: str) -> Any:
        """A token with the provider's own signature."""
        joserfc = self._library.joserfc
        try:
            return joserfc.jwt.decode(text, await self._read_keys(client, description), algorithms=ALGORITHMS)
        except (joserfc.errors.JoseError, ValueError):
            # Its keys may be new.
            keys = await self._read_keys(client, description, again=True)
            return joserfc.jwt.decode(text, keys, algorithms=ALGORITHMS)

    async def _read_keys(self, client: Any, description: Description, *, again: bool = False) -> Any:
        oldest = time.monotonic() - (KEYS_SECONDS if again else DESCRIPTION_SECONDS)
        async with self._lock:
            if self._keys is None or self._keys[0] < oldest:
                found = await _get(client, description.jwks_uri)
                usable = [key for key in found.get("keys", []) if _is_usable(key)][:MAX_KEYS]
                self._keys = (time.monotonic(), self._library.joserfc.jwk.KeySet.import_key_set({"keys": usable}))
            return self._keys[1]

    async def _userinfo(self, client: Any, url: str, subject: str) -> dict[str, Any]:
        reply = await client.get(url)
        reply.raise_for_status()
        found = reply.json()
        if not isinstance(found, dict) or found.get("sub") != subject:
            raise ProviderFailure("its user information is about somebody else")
        return found


class _Asking:
    """A client for the requests of one login, with one time limit; whatever goes wrong is a ProviderFailure."""

    def __init__(self, chosen: OidcProvider, library: SimpleNamespace, tls: ssl.SSLContext) -> None:
        self._library = library
        self._client = library.AsyncOAuth2Client(
            chosen.client_id,
            chosen.client_secret,
            scope=chosen.scopes,
            code_challenge_method="S256",
            timeout=REQUEST_SECONDS,
            follow_redirects=False,
            verify=tls,
            headers={"Accept-Encoding": "identity"},
            event_hooks={"response": [self._hear]},
        )
        self._limit = asyncio.timeout(LOGIN_SECONDS)

    async def _hear(self, reply: Any) -> None:
        """Read an answer, up to its greatest length."""
        httpx2 = self._library.httpx2
        if reply.headers.get("Content-Encoding", "identity") != "identity":
            raise httpx2.DecodingError("it is compressed, though we did not ask for that")
        pieces, left = [], MAX_ANSWER
        async with aclosing(reply.stream) as stream:
            async for piece in stream:
                pieces.append(piece)
                left -= len(piece)
                if left < 0:
                    raise httpx2.ReadError("it is too long")
        reply.stream = httpx2.ByteStream(b"".join(pieces))

    async def __aenter__(self) -> Any:
        await self._limit.__aenter__()
        return self._client

    async def __aexit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        await self._client.aclose()
        try:
            await self._limit.__aexit__(kind, error, traceback)
        except TimeoutError as late:
            raise ProviderFailure("it does not answer in time", is_away=True) from late
        if isinstance(error, (self._library.httpx2.HTTPError, self._library.httpx2.InvalidURL)):
            raise ProviderFailure(repr(error), is_away=True) from error
        wrong = (self._library.OAuthError, self._library.joserfc.errors.JoseError, msgspec.MsgspecError)
        if isinstance(
            error, (*wrong, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
        ):
            raise ProviderFailure(repr(error)) from error


async def _get(client: Any, url: str) -> dict[str, Any]:
    """A public document of the provider."""
    reply = await client.request("GET", url, withhold_token=True, headers={"Accept": "application/json"})
    reply.raise_for_status()
    found = reply.json()
    if not isinstance(found, dict):
        raise ProviderFailure(f"{url} is not a JSON object")
    return found


def _check_description(found: Description, issuer: str) -> None:
    if found.issuer != issuer:
        raise ProviderFailure(f"it calls itself {found.issuer!r}")
    addresses = (found.authorization_endpoint, found.token_endpoint, found.jwks_uri, found.userinfo_endpoint)
    if not all(url is None or is_safe_url(url) for url in addresses):
        raise ProviderFailure("one of its addresses is not https")


def _is_usable(key: object) -> bool:
    return isinstance(key, dict) and key.get("kty") in ("RSA", "EC", "OKP") and key.get("use", "sig") == "sig"


def find_claim(claims: dict[str, Any], name: str) -> Any:
    """A claim by its name, or by the way to it: `realm_access.roles`."""
    if name in claims:
        return claims[name]
    found: Any = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def _groups(claims: dict[str, Any], name: str) -> frozenset[str]:
    """What somebody belongs to. Who is said to be in nothing, or of whom nothing is said, is in nothing."""
    found = find_claim(claims, name)
    values = found if isinstance(found, list) else [found]
    if found is None and isinstance(claims.get("_claim_names"), dict) and name in claims["_claim_names"]:
        log.warning("a provider has too many groups of a person to name them: none counts", claim=name)
    return frozenset(value for value in values[:MAX_VALUES] if isinstance(value, str))


def _identity(chosen: OidcProvider, claims: dict[str, Any]) -> Identity:
    subject, email, name, session = (claims.get(claim) for claim in ("sub", "email", "name", "sid"))
    if not isinstance(subject, str) or not is_name(subject):
        raise ProviderFailure("it does not say who that is")
    issued = float(claims["iat"])
    if not 0 <= issued < LAST_TIME:
        raise ProviderFailure("its `iat` is no time")
    return Identity(
        issuer=chosen.issuer,
        subject=subject,
        email=email.strip() if isinstance(email, str) else "",
        is_verified=claims.get("email_verified") in (True, "true"),
        full_name=name if isinstance(name, str) else "",
        shares_people=chosen.shares_people,
        session=session if isinstance(session, str) and is_name(session) else None,
        issued=issued,
        proved=_time(claims.get("auth_time")),
        groups=_groups(claims, chosen.groups_claim) if chosen.groups_claim else None,
    )


def _time(found: object) -> float | None:
    """A moment, if it is one."""
    return float(found) if isinstance(found, int | float) and 0 < found < LAST_TIME else None


def load_library() -> SimpleNamespace:
    """The libraries, if they are installed."""
    try:
        import httpx2
        import joserfc.errors
        import joserfc.jwk
        import joserfc.jwt
        from authlib.integrations.base_client import OAuthError
        from authlib.integrations.httpx_client import AsyncOAuth2Client
        from authlib.oidc.core import CodeIDToken
    except ImportError as error:
        raise SettingsError("oidc_providers needs the extra: pip install 'tertulia[oidc]'") from error
    return SimpleNamespace(
        httpx2=httpx2,
        joserfc=joserfc,
        OAuthError=OAuthError,
        AsyncOAuth2Client=AsyncOAuth2Client,
        CodeIDToken=CodeIDToken,
    )
