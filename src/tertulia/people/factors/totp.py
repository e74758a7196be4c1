"""Codes of an authenticator (pure): RFC 6238 with SHA-1, 6 digits and 30 seconds, which all of them understand."""

import base64
import hmac
import struct
from urllib.parse import quote

STEP_SECONDS = 30
DIGITS = 6
SECRET_BYTES = 20
LENIENCE = 1
"""Steps before and after this one that count: clocks differ, and typing takes a moment."""


def code_at(secret: bytes, step: int) -> str:
    """The code of one step (RFC 4226)."""
    digest = hmac.digest(secret, struct.pack(">Q", step), "sha1")
    offset = digest[-1] & 15
    number = struct.unpack(">I", digest[offset : offset + 4])[0] & 0x7FFFFFFF
    return str(number % 10**DIGITS).zfill(DIGITS)


def step_of(secret: bytes, code: str, now: float) -> int | None:
    """The step whose code it is, if that is near enough to now."""
    here = int(now // STEP_SECONDS)
    steps = range(here - LENIENCE, here + LENIENCE + 1)
    # All are compared, in constant time.
    found = [step for step in steps if hmac.compare_digest(code_at(secret, step).encode(), code.encode())]
    return found[-1] if found else None


def secret_text(secret: bytes) -> str:
    """As people type it."""
    return base64.b32encode(secret).decode().rstrip("=")


def uri_of(secret: bytes, issuer: str, email: str) -> str:
    """What authenticators read out of a QR code."""
    label = f"{quote(issuer, safe='')}:{quote(email, safe='')}"
    parts = f"secret={secret_text(secret)}&issuer={quote(issuer, safe='')}&digits={DIGITS}&period={STEP_SECONDS}"
    return f"otpauth://totp/{label}?{parts}"
