"""Query strings and urlencoded bodies, as strangers really send them.

Brackets, quotes, braces and spaces may arrive unescaped; a broken escape stays as it is; the last of repeated names
wins. A value that is not UTF-8 or holds NUL is refused by whoever reads it: what nobody reads may hold anything.
"""

import re
from binascii import a2b_qp
from dataclasses import dataclass
from typing import Any

from tertulia.kernel.errors import Refusal

MAX_FIELDS = 1000
MAX_BROKEN = 10_000
"""Broken escapes that are taken care of, which is done one by one: as many as a message can have of them."""
_stray = re.compile(rb"%(?![0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class UnfitText:
    """A value that we cannot keep as a text."""

    fault: str
    """The rest of a sentence that starts with the parameter's name."""
    text: str | None = None
    """What it says, if it is text at all."""


def read_urlencoded(data: bytes, into: dict[str, Any]) -> None:
    """Add the fields in `data` to `into`."""
    if data.count(b"&") >= MAX_FIELDS:
        raise too_many_fields()
    data = data.replace(b"+", b" ")
    if b"%" in data:
        data, broken = _stray.subn(b"%25", data, MAX_BROKEN + 1)
        if broken > MAX_BROKEN:
            raise Refusal("The parameters are not urlencoded")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        _read_bytes(data, into)
        return
    odd = "\0" in text
    for pair in text.split("&"):
        if pair:
            name, _, value = pair.partition("=")
            if "%" in name:
                name = check_name(_unescape(name.encode()))
            into[name] = text_of(_unescape(value.encode())) if odd or "%" in value else value


def _read_bytes(data: bytes, into: dict[str, Any]) -> None:
    """The same, if not all of it is text."""
    for pair in data.split(b"&"):
        if pair:
            name, _, value = pair.partition(b"=")
            into[check_name(_unescape(name))] = text_of(_unescape(value))


def too_many_fields() -> Refusal:
    """More fields than any endpoint could mean."""
    return Refusal(f"The request has too many parameters (limit: {MAX_FIELDS})")


def check_text(data: bytes) -> str:
    """Text that we can keep, or a refusal."""
    text = check_name(data)
    if "\0" in text:
        raise Refusal("The parameters hold a NUL character")
    return text


def check_name(data: bytes) -> str:
    """The name of a parameter: any text, because unknown ones are reported and nothing else."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Refusal("The parameters are not valid UTF-8") from None


def text_of(data: bytes) -> str | UnfitText:
    """The value of a parameter."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return UnfitText("is not valid UTF-8")
    return UnfitText("holds a NUL character", text) if "\0" in text else text


def _unescape(escaped: bytes) -> bytes:
    # Quoted-printable is the same idea with another sign, and its decoder is written in C.
    return a2b_qp(escaped.replace(b"=", b"=3D").replace(b"%", b"="))
