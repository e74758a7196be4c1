"""An OpenID Connect provider that does what a test tells it: right by default, wrong where the test wants it so.

A real HTTP server in a thread, with real signatures; codes are good once, PKCE and the client's secret are checked.
"""

import base64
import hashlib
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import uvicorn
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from tertulia.engines import free_port
from tertulia.kernel.login_settings import OidcProvider
from tertulia.people.sessions.oidc.flow import Flow
from tertulia.people.sessions.oidc.provider import Identity, Provider

CLIENT_ID, CLIENT_SECRET = "tertulia", "not much of a secret"
Json = dict[str, Any]


class CrookedProvider:
    def __init__(self, port: int) -> None:
        self.issuer = f"http://localhost:{port}"
        self.key = RSAKey.generate_key(2048, {"kid": "first", "use": "sig"})
        self.reset()

    def reset(self) -> None:
        """Be right."""
        self.person: Json = {}
        self.userinfo: Json = {}
        self.change: Callable[[Json], Json] = lambda claims: claims
        """What becomes of the claims of an identity token."""
        self.sign: Callable[[Json], str] = lambda claims: jwt.encode(
            {"alg": "RS256", "kid": self.key.kid}, claims, self.key
        )
        self.describe: Json = {}
        """What is different in the description."""
        self.codes: dict[str, Json] = {}
        self.token_requests = 0
        self.token_redirect: str | None = None
        self.instead: dict[str, Response] = {}
        """What it says in the place of its description, keys, token or userinfo."""
        self.more_keys: list[Json] = []
        """Before its own."""

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._description),
                Route("/keys", self._keys),
                Route("/authorize", self._authorize),
                Route("/token", self._token, methods=["POST"]),
                Route("/userinfo", self._userinfo),
            ]
        )

    async def _description(self, _request: Request) -> Response:
        if "description" in self.instead:
            return self.instead["description"]
        found = {"issuer": self.issuer, "authorization_endpoint": f"{self.issuer}/authorize",
                 "token_endpoint": f"{self.issuer}/token", "jwks_uri": f"{self.issuer}/keys",
                 "userinfo_endpoint": f"{self.issuer}/userinfo"}  # fmt: skip
        return JSONResponse(found | self.describe)

    async def _keys(self, _request: Request) -> Response:
        if "keys" in self.instead:
            return self.instead["keys"]
        other = {"kty": "oct", "k": "c2VjcmV0", "kid": "of a kind that nobody should use"}
        return JSONResponse({"keys": [*self.more_keys, *KeySet([self.key]).as_dict(private=False)["keys"], other]})

    async def _authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT_ID
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe()
        self.codes[code] = asked
        return RedirectResponse(asked["redirect_uri"] + "?" + urlencode({"code": code, "state": asked["state"]}))

    async def _token(self, request: Request) -> Response:
        self.token_requests += 1
        if "token" in self.instead:
            return self.instead["token"]
        if self.token_redirect:
            return RedirectResponse(self.token_redirect, 307)
        form = await request.form()
        basic = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        if request.headers.get("authorization") != f"Basic {basic}":
            return JSONResponse({"error": "invalid_client"}, 401)
        asked = self.codes.pop(str(form["code"]), None)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(str(form.get("code_verifier")).encode()).digest())
        if (
            asked is None
            or asked["code_challenge"] != challenge.rstrip(b"=").decode()
            or asked["redirect_uri"] != form["redirect_uri"]
        ):
            return JSONResponse({"error": "invalid_grant"}, 400)
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "exp": now + 60,
            "iat": now,
            "nonce": asked["nonce"],
            **self.person,
        }
        answer = {"access_token": "let me in", "token_type": "Bearer", "id_token": self.sign(self.change(claims))}
        return JSONResponse(answer)

    async def _userinfo(self, request: Request) -> Response:
        if "userinfo" in self.instead:
            return self.instead["userinfo"]
        assert request.headers["authorization"] == "Bearer let me in"
        return JSONResponse(self.userinfo)


@contextmanager
def crooked_provider() -> Iterator[CrookedProvider]:
    """Serve it."""
    port = free_port()
    provider = CrookedProvider(port)
    server = uvicorn.Server(uvicorn.Config(provider.app(), host="127.0.0.1", port=port, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 20
    while not server.started:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    try:
        yield provider
    finally:
        server.should_exit = True
        thread.join(20)


def ours_of(provider: CrookedProvider) -> Provider:
    """Our side of it."""
    return Provider(OidcProvider(name="x", display_name="X", issuer=provider.issuer, client_id=CLIENT_ID,
                                 client_secret=CLIENT_SECRET), 86400)  # fmt: skip


async def somebody_at(ours: Provider) -> Identity:
    """Who comes back from the provider."""
    flow = Flow("x", "", "/", None, time.time() + 60)
    url = await ours.login_url(flow, "http://localhost/back")
    async with httpx.AsyncClient(trust_env=False) as client:
        back = (await client.get(url)).headers["location"]
    return await ours.identify(flow, parse_qs(urlsplit(back).query)["code"][0], "http://localhost/back")
