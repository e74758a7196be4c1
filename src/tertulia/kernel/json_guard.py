"""Guards around JSON that strangers send: depth, NUL characters, integers no column can hold, and texts of great length.

msgspec decodes strictly and fast but accepts what PostgreSQL cannot store (U+0000, integers beyond 64 bits) and runs
into the interpreter's recursion limit on deep nesting. `check_json` looks for the rare suspicious text with cheap scans; only
then it decodes the value a second time and walks it.

Invariant: nothing here runs Python code once per bracket, string or number of the text, because the event loop stands still
meanwhile. What a list or an object costs to decode is bounded by how many of them a text may have.
"""

from __future__ import annotations

import re

import msgspec

MAX_DEPTH = 32
MAX_CONTAINERS = 50_000
"""Lists and objects in one text: several times what the longest list of objects that an endpoint takes has."""
MAX_TEXT = 20_000
"""Characters of one text, wherever it comes from: twice what the longest that people write has. What is done with a text may
take the square of its length; nothing is done with a longer one, unless its parameter says that it takes any length."""
MIN_INTEGER = -(2**63)
MAX_INTEGER = 2**63 - 1

_not_structure = bytes(set(range(256)) - set(b'"[]{}'))
_as_lists = bytes.maketrans(b"{}", b"[]")
# A number is tried at its first digit only, so that the scan stays linear.
_suspicious = re.compile(r"\\u0000|(?<![0-9])[0-9]{19}")
_suspicious_bytes = re.compile(_suspicious.pattern.encode())
# After a quotation mark no other comes for so long: a text, or what stands between two of them.
_long = re.compile(rf'"[^"]{{{MAX_TEXT + 1}}}')
_long_bytes = re.compile(_long.pattern.encode())


class JsonTrouble(ValueError):
    """The JSON is well-formed or not our business, but carries something we do not take. The text says what."""


class NumberTooLarge(JsonTrouble):
    """An integer that no column can hold."""


def is_storable(number: int) -> bool:
    """Whether a column can hold an integer; one that it cannot is nobody's id."""
    return MIN_INTEGER <= number <= MAX_INTEGER


class TextTooLong(JsonTrouble):
    """A text of more characters than anything is done with."""

    def __init__(self) -> None:
        super().__init__(f"is too long (limit: {MAX_TEXT} characters)")


def check_json(text: str | bytes, *, any_length: bool = False) -> None:
    """Raise JsonTrouble for nesting, NUL characters, integers or texts beyond what the service accepts."""
    check_depth(text)
    found = _suspicious.search(text) if isinstance(text, str) else _suspicious_bytes.search(text)
    may_be_long = not any_length and len(text) > MAX_TEXT and _may_be_long(text)
    if found is None and not may_be_long:
        return
    try:
        value = msgspec.json.decode(text)
    except msgspec.ValidationError:
        raise JsonTrouble("holds a number that is too large") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return  # not JSON at all: the typed decoder says so
    _check_value(value, MAX_TEXT if may_be_long else len(text))


def check_depth(text: str | bytes) -> None:
    """Raise JsonTrouble for too many brackets, one inside the other or in all."""
    if isinstance(text, str):
        if text.count("[") + text.count("{") <= MAX_DEPTH:
            return
        text = text.encode(errors="replace")
    elif text.count(b"[") + text.count(b"{") <= MAX_DEPTH:
        return
    brackets = _brackets(text)
    if brackets.count(b"]") > MAX_CONTAINERS:
        raise JsonTrouble(f"has too many lists and objects (limit: {MAX_CONTAINERS})")
    for _ in range(MAX_DEPTH):
        inner = brackets.replace(b"[]", b"")  # the innermost level goes
        if len(inner) == len(brackets):
            break
        brackets = inner
    # What is left of valid JSON is nested deeper. Other texts may leave brackets without a partner: the decoder refuses them.
    if b"[]" in brackets or brackets.count(b"[") > MAX_DEPTH:
        raise JsonTrouble(f"is nested too deeply (limit: {MAX_DEPTH} levels)")


def _brackets(text: bytes) -> bytes:
    """The brackets outside of strings, all of them square."""
    # Without escapes each quotation mark begins or ends a string. Two that meet are an empty string, or the end of one and
    # the beginning of the next: without both, what is outside is still outside.
    text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    text = text.translate(_as_lists, _not_structure).replace(b'""', b"")
    return b"".join(text.split(b'"')[::2])


def _may_be_long(text: str | bytes) -> bool:
    """Whether a text in it may have more than MAX_TEXT characters. Escaped quotation marks do not end one."""
    if isinstance(text, str):
        return _long.search(text.replace("\\\\", "__").replace('\\"', "__")) is not None
    return _long_bytes.search(text.replace(b"\\\\", b"__").replace(b'\\"', b"__")) is not None


def _check_value(value: object, most: int) -> None:
    if isinstance(value, list):
        _check_items(value, most)
    elif isinstance(value, dict):
        _check_items(list(value), most)
        _check_items(list(value.values()), most)
    else:
        _check_items([value], most)


def _check_items(items: list[object], most: int) -> None:
    kinds = set(map(type, items))
    if str in kinds:
        texts = [item for item in items if isinstance(item, str)]
        if max(map(len, texts)) > most:
            raise TextTooLong
        if "\0" in "".join(texts):
            raise JsonTrouble("holds a NUL character")
    if int in kinds:
        numbers = [item for item in items if type(item) is int]
        if not (is_storable(min(numbers)) and is_storable(max(numbers))):
            raise NumberTooLarge("holds a number that is too large")
    if list in kinds or dict in kinds:
        for item in items:
            if isinstance(item, (list, dict)):
                _check_value(item, most)
