"""What a provider says when somebody logs out there (pure): OpenID Connect Back-Channel Logout 1.0, section 2.6.

A token of another kind must not pass for one, nor an old one for a new one: it says what it is in its type and in `events`,
has no `nonce`, and is young. Its signature was looked at before; that it is used once is kept by the database.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from tertulia.people.sessions.oidc.failure import ProviderFailure

EVENT = "http://schemas.openid.net/event/backchannel-logout"
TYPES = ("logout+jwt", "application/logout+jwt")
MAX_AGE_SECONDS = 600
"""Older tokens are refused, whatever they say of their own end: so used ones are remembered for little longer."""
LEEWAY_SECONDS = 60
MAX_NAME_LENGTH = 255
LAST_TIME = 2**40
"""What a provider calls a time is before this."""


class Logout(msgspec.Struct, frozen=True):
    """Who is logged out: one session, if it is named, or all of a person's."""

    issuer: str
    subject: str | None
    session: str | None
    token_id: str
    issued: float

    @property
    def digest(self) -> bytes:
        """The token's own name, to know it again by."""
        return hashlib.sha256(f"{self.issuer}\n{self.token_id}".encode()).digest()


def read_logout(
    header: Mapping[str, Any], claims: Mapping[str, Any], issuer: str, client_id: str, now: float
) -> Logout:
    """What a token with a good signature says; refuses all that is not a young log-out token for us."""
    _check(str(header.get("typ")).lower() in TYPES, "its type is not logout+jwt")
    _check(claims.get("iss") == issuer, "it is another issuer's")
    audience = claims.get("aud")
    _check(client_id in (audience if isinstance(audience, list) else [audience]), "it is for somebody else")
    issued, end = _time(claims, "iat"), _time(claims, "exp")
    _check(now - MAX_AGE_SECONDS <= issued <= now + LEEWAY_SECONDS, "it is too old, or from the future")
    _check(end > now - LEEWAY_SECONDS, "it has expired")
    events = claims.get("events")
    _check(isinstance(events, dict) and isinstance(events.get(EVENT), dict), "its `events` do not say log-out")
    _check("nonce" not in claims, "it has a `nonce`, as identity tokens do")
    subject, session = _name(claims, "sub"), _name(claims, "sid")
    _check(subject is not None or session is not None, "it names neither a person nor a session")
    token_id = _name(claims, "jti")
    if token_id is None:
        raise ProviderFailure("it has no `jti`")
    return Logout(issuer, subject, session, token_id, issued)


def _check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ProviderFailure(f"a log-out token is refused: {otherwise}")


def _time(claims: Mapping[str, Any], name: str) -> float:
    value = claims.get(name)
    is_time = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < LAST_TIME
    _check(is_time, f"its `{name}` is no time")
    return float(claims[name])


def _name(claims: Mapping[str, Any], name: str) -> str | None:
    value = claims.get(name)
    if name not in claims:
        return None
    _check(isinstance(value, str) and is_name(value), f"its `{name}` is no name")
    return str(value)


def is_name(text: str) -> bool:
    """Whether a provider's name for something can be stored."""
    return 0 < len(text) <= MAX_NAME_LENGTH and not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in text)
