"""A login under way at a provider (pure): what the browser keeps meanwhile, sealed, so that any node can go on with it.

The seal's key is derived from the secret that we share with the provider: every node has it, and whoever else knows it
could log in as anybody anyway.
"""

import base64
import binascii
import hmac
import secrets

import msgspec

COOKIE = "tertulia_login"
SECONDS = 600
_LABEL = b"tertulia: a login under way"


class ProviderLogin(msgspec.Struct, frozen=True):
    """Whom a provider has confirmed, when, and what it calls its own session with the browser."""

    issuer: str
    subject: str
    session: str | None
    issued: float
    proved: float | None = None
    """When the person last proved to the provider who they are; None: it does not say."""


class Flow(msgspec.Struct, frozen=True):
    """Random values that tie the answer of the provider to the browser and to the request; where to go afterwards."""

    provider: str
    subdomain: str
    next: str
    otp: str | None
    expires: float
    state: str = msgspec.field(default_factory=lambda: secrets.token_urlsafe(24))
    nonce: str = msgspec.field(default_factory=lambda: secrets.token_urlsafe(24))
    verifier: str = msgspec.field(default_factory=lambda: secrets.token_urlsafe(48))
    invitation: str | None = None
    """The key of an invitation, for who has no account yet."""
    user_id: int | None = None
    """Whom the provider has confirmed, while we ask for a code as well."""
    login: ProviderLogin | None = None
    again: bool = False
    """The provider is to ask who is there, whatever it knows of the browser."""


def seal(flow: Flow, secret: str) -> str:
    """The flow as a text for a cookie."""
    body = msgspec.json.encode(flow)
    return f"{_base64(body)}.{_base64(_signature(body, secret))}"


def unseal(text: str, secret: str, now: float) -> Flow | None:
    """The flow in a cookie, if we sealed it and it has not expired."""
    try:
        body, signature = (base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in text.split("."))
    except (ValueError, binascii.Error):
        return None
    if not hmac.compare_digest(signature, _signature(body, secret)):
        return None
    try:
        flow = msgspec.json.decode(body, type=Flow)
    except msgspec.MsgspecError:  # of another version of ours
        return None
    return flow if flow.expires > now else None


def is_otp(text: str) -> bool:
    """Whether an app could use that to hide a key: 64 hexadecimal digits."""
    return len(text) == 64 and all(char in "0123456789abcdefABCDEF" for char in text)


def hide_key(key: str, otp: str) -> str:
    """The key, readable only for the app that knows the one-time pad."""
    return bytes(a ^ b for a, b in zip(key.encode(), bytes.fromhex(otp), strict=True)).hex()


def _signature(body: bytes, secret: str) -> bytes:
    key = hmac.digest(secret.encode(), _LABEL, "sha256")
    return hmac.digest(key, body, "sha256")


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
