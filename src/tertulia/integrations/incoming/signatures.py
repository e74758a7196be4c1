"""How services show that a payload is theirs, where a secret is set for them (pure: no I/O, no clock of its own).

Everything is compared in constant time. Where a service signs a time as well, what is older than `TOLERANCE_SECONDS` counts
as a repetition and is not believed. A service that does not sign a time cannot be told apart from its own repetition.
"""

import base64
import hmac
from collections.abc import Callable, Mapping

TOLERANCE_SECONDS = 300
_SIGNING_PREFIX = "whsec_"

Headers = Mapping[str, str]
"""Names in lower case."""
IsSigned = Callable[[str, Headers, bytes, float], bool]
"""Whether the secret, the headers and the body as it came fit at this moment (UNIX time)."""


def github(secret: str, headers: Headers, body: bytes, _now: float) -> bool:
    """`X-Hub-Signature-256`: `sha256=` and the digest of the body. No time is signed."""
    return _is_same(headers.get("x-hub-signature-256", ""), "sha256=" + _digest(secret.encode(), body).hex())


def gitlab(secret: str, headers: Headers, body: bytes, now: float) -> bool:
    """With a signing token (`whsec_...`): `webhook-signature`, of number, time and body. With a secret token: `X-Gitlab-Token`.

    Who set a signing token does not accept the other, which would be a way around it.
    """
    if not secret.startswith(_SIGNING_PREFIX):
        return _is_same(headers.get("x-gitlab-token", ""), secret)
    key = _key_in(secret)
    if key is None:
        return False
    number, sent_at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    signed = _digest(key, f"{number}.{sent_at}.".encode() + body)
    wanted = "v1," + base64.b64encode(signed).decode()
    # Several, with spaces between them, while the token is being replaced.
    found = [_is_same(each, wanted) for each in headers.get("webhook-signature", "").split()[:10]]
    return any(found) and _is_recent(sent_at, now)


def can_be_gitlab(secret: str) -> bool:
    """Whether it is a secret token, or a signing token with a key in it: without one nothing would ever fit."""
    return not secret.startswith(_SIGNING_PREFIX) or bool(_key_in(secret))


def _key_in(signing_token: str) -> bytes | None:
    try:
        return base64.b64decode(signing_token.removeprefix(_SIGNING_PREFIX), validate=True)
    except ValueError:
        return None


def grafana(secret: str, headers: Headers, body: bytes, now: float) -> bool:
    """`X-Grafana-Alerting-Signature`: of the body; or of time and body, if the contact point names a header for the time.

    A body without a time begins as Grafana's do: one that begins with a time would pass for both for ever.
    """
    sent_at = headers.get("x-grafana-alerting-signature-timestamp")
    if sent_at is None and not body.lstrip().startswith(b"{"):
        return False
    signed = body if sent_at is None else f"{sent_at}:".encode() + body
    is_theirs = _is_same(headers.get("x-grafana-alerting-signature", ""), _digest(secret.encode(), signed).hex())
    return is_theirs and (sent_at is None or _is_recent(sent_at, now))


def sentry(secret: str, headers: Headers, body: bytes, _now: float) -> bool:
    """`Sentry-Hook-Signature`: of the body. `Sentry-Hook-Timestamp` is not signed, so it shows nothing."""
    return _is_same(headers.get("sentry-hook-signature", ""), _digest(secret.encode(), body).hex())


def _digest(key: bytes, signed: bytes) -> bytes:
    return hmac.digest(key, signed, "sha256")


def _is_same(sent: str, wanted: str) -> bool:
    return hmac.compare_digest(sent.encode("utf-8", "surrogateescape"), wanted.encode())


def _is_recent(sent_at: str, now: float) -> bool:
    return (
        sent_at.isascii() and sent_at.isdigit() and len(sent_at) < 12 and abs(now - int(sent_at)) <= TOLERANCE_SECONDS
    )
