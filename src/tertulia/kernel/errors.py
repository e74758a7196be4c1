"""Refusals: every way a request can fail on purpose, and the one renderer of their bodies.

Invariants: an error body always has `result`, `msg` and `code`; nothing but `error_body` writes one; an unexpected
exception never reaches a client, it becomes `internal_error()`.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from math import ceil

import msgspec

_encode = msgspec.json.Encoder().encode


class Refusal(Exception):
    """A request that is answered with an error. `extra` keys stand beside result, msg and code: BAD_REQUEST has none."""

    def __init__(
        self,
        msg: str,
        *,
        code: str = "BAD_REQUEST",
        status: int = 400,
        headers: Mapping[str, str] | None = None,
        **extra: object,
    ) -> None:
        super().__init__(msg)
        self.msg = msg
        self.code = code
        self.status = status
        self.headers = headers
        self.extra = extra

    def __str__(self) -> str:
        return f"{self.status} {self.code}: {self.msg}"


class Taken(Refusal):
    """The refusal of a name or an address that somebody else has."""


def error_body(refusal: Refusal) -> bytes:
    """The JSON body of a refusal, newline included."""
    body = {"result": "error", "msg": refusal.msg, "code": refusal.code, **refusal.extra}
    return _encode(body) + b"\n"


def unauthorized(msg: str, realm_name: str, *, code: str = "UNAUTHORIZED", scheme: str = "Basic") -> Refusal:
    """A 401 with its challenge. The name goes into a quoted string of a header: only plain printable ASCII survives."""
    name = "".join(char for char in realm_name if " " <= char <= "~" and char not in '"\\')
    return Refusal(msg, code=code, status=401, headers={"WWW-Authenticate": f'{scheme} realm="{name}"'})


def not_found() -> Refusal:
    """No such address."""
    return Refusal("There is nothing at this address", code="NOT_FOUND", status=404)


def method_not_allowed(allowed: list[str]) -> Refusal:
    """The address exists, for other methods."""
    headers = {"Allow": ", ".join(allowed)}
    return Refusal(
        "This address does not answer to this method",
        code="METHOD_NOT_ALLOWED",
        status=405,
        headers=headers,
        allowed_methods=allowed,
    )


def payload_too_large(limit: int, *, close: bool = False) -> Refusal:
    """`close` says that unread bytes are left on the connection, so it cannot carry another request."""
    headers = {"Connection": "close"} if close else None
    msg = f"The request body is too large (limit: {limit} bytes)"
    return Refusal(msg, code="PAYLOAD_TOO_LARGE", status=413, headers=headers)


def internal_error() -> Refusal:
    """What a client learns about an exception nobody expected: nothing but its request id, in the header."""
    return Refusal("The server failed to answer this request", code="INTERNAL_ERROR", status=500)


def server_not_ready(
    msg: str = "The server is not ready, try again shortly", retry_after: float = 1, *, close: bool = False
) -> Refusal:
    """A 503: the same request may succeed after so many seconds, and a random part. `close`: as for a body that is too large."""
    return Refusal(
        msg,
        code="SERVER_NOT_READY",
        status=503,
        headers={"Retry-After": str(spread(retry_after)), **({"Connection": "close"} if close else {})},
    )


def spread(seconds: float) -> int:
    """Whole seconds, at least these, and up to half as many more: who is told the same would come back together."""
    least = max(1, ceil(seconds))
    return random.randint(least, least + max(2, least // 2))
