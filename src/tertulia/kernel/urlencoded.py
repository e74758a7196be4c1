"""Query strings and urlencoded bodies, as strangers really send them.

Brackets, quotes, braces and spaces may arrive unescaped; a broken escape stays as it is; the last of repeated names
wins. Text that is not UTF-8 or holds NUL is refused.
"""

import re
from binascii import a2b_qp
from typing import Any

from tertulia.kernel.errors import Refusal

MAX_FIELDS = 1000
_stray = re.compile(rb"%(?![0-9A-Fa-f]{2})")


def read_urlencoded(data: bytes, into: dict[str, Any]) -> None:
    """Add the fields in `data` to `into`."""
    if data.count(b"&") >= MAX_FIELDS:
        raise too_many_fields()
    text = check_text(data.replace(b"+", b" "))
    for pair in text.split("&"):
        if pair:
            name, _, value = pair.partition("=")
            into[_unescape(name) if "%" in name else name] = _unescape(value) if "%" in value else value


def too_many_fields() -> Refusal:
    """More fields than any endpoint could mean."""
    return Refusal(f"The request has too many parameters (limit: {MAX_FIELDS})")


def check_text(data: bytes) -> str:
    """Text that we can keep, or a refusal."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise Refusal("The parameters are not valid UTF-8") from None
    if "\0" in text:
        raise Refusal("The parameters hold a NUL character")
    return text


def _unescape(text: str) -> str:
    # Quoted-printable is the same idea with another sign, and its decoder is written in C.
    escaped = _stray.sub(b"%25", text.encode())
    return check_text(a2b_qp(escaped.replace(b"=", b"=3D").replace(b"%", b"=")))
