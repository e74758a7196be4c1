"""Query strings and urlencoded bodies, as strangers really send them.

Brackets, quotes, braces and spaces may arrive unescaped; a broken escape stays as it is; the last of repeated names
wins. Text that is not UTF-8 or holds NUL is refused.
"""

import re
from typing import Any

from tertulia.kernel.errors import Refusal

MAX_FIELDS = 1000
_escapes = re.compile(rb"(?:%[0-9A-Fa-f]{2})+")


def read_urlencoded(data: bytes, into: dict[str, Any]) -> None:
    """Add the fields in `data` to `into`."""
    if data.count(b"&") >= MAX_FIELDS:
        raise too_many_fields()
    for pair in data.split(b"&"):
        if pair:
            name, _, value = pair.partition(b"=")
            into[_decode(name)] = _decode(value)


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


def _decode(part: bytes) -> str:
    if b"+" in part:
        part = part.replace(b"+", b" ")
    if b"%" in part:
        part = _escapes.sub(_unescape, part)
    return check_text(part)


def _unescape(run: re.Match[bytes]) -> bytes:
    return bytes.fromhex(run.group().replace(b"%", b"").decode())
