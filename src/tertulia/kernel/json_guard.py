"""Guards around JSON that strangers send: depth, NUL characters and integers no column can hold.

msgspec decodes strictly and fast but accepts what PostgreSQL cannot store (U+0000, integers beyond 64 bits) and runs
into the interpreter's recursion limit on deep nesting. `check_json` looks for the rare suspicious text with two cheap
scans; only then it decodes the value a second time and walks it.
"""

from __future__ import annotations

import re

import msgspec

MAX_DEPTH = 32
MIN_INTEGER = -(2**63)
MAX_INTEGER = 2**63 - 1

# A string (also one that never ends, so that the scan stays linear), or a bracket.
_piece = re.compile(r'"(?:[^"\\]++|\\.?)*+"?|[\[\]{}]', re.DOTALL)
_piece_bytes = re.compile(_piece.pattern.encode(), re.DOTALL)
_suspicious = re.compile(r"\\u0000|[0-9]{19}")
_suspicious_bytes = re.compile(_suspicious.pattern.encode())


class JsonTrouble(ValueError):
    """The JSON is well-formed or not our business, but carries something we do not take. The text says what."""


def check_json(text: str | bytes) -> None:
    """Raise JsonTrouble for nesting, NUL characters or integers beyond what the service accepts."""
    check_depth(text)
    found = _suspicious.search(text) if isinstance(text, str) else _suspicious_bytes.search(text)
    if found is None:
        return
    try:
        value = msgspec.json.decode(text)
    except msgspec.ValidationError:
        raise JsonTrouble("holds a number that is too large") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return  # not JSON at all: the typed decoder says so
    _check_value(value)


def check_depth(text: str | bytes) -> None:
    if isinstance(text, str):
        if text.count("[") + text.count("{") <= MAX_DEPTH:
            return
        pieces = (match.group() for match in _piece.finditer(text))
    else:
        if text.count(b"[") + text.count(b"{") <= MAX_DEPTH:
            return
        pieces = (match.group().decode("latin-1") for match in _piece_bytes.finditer(text))
    depth = 0
    for piece in pieces:
        if piece in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise JsonTrouble(f"is nested too deeply (limit: {MAX_DEPTH} levels)")
        elif piece in "]}":
            depth -= 1


def _check_value(value: object) -> None:
    if isinstance(value, str):
        if "\0" in value:
            raise JsonTrouble("holds a NUL character")
    elif isinstance(value, int):
        if not MIN_INTEGER <= value <= MAX_INTEGER:
            raise JsonTrouble("holds a number that is too large")
    elif isinstance(value, list):
        for item in value:
            _check_value(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_value(key)
            _check_value(item)
