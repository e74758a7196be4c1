"""Documents of a MongoDB dump, one after the other, within bounds (pure).

A reader of our own: the library that knows the format is a driver for a database, and what is needed here is a dozen types of
values, with bounds on length and depth, and fields passed over that nobody asked for. A document says how long it is, so one that
is broken inside costs nothing but itself.
"""

import struct
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

MOST_DOCUMENT = 16 * 1024 * 1024 + 16 * 1024
"""Bytes: what MongoDB itself allows."""
MOST_DEPTH = 40
_INT, _LONG, _DOUBLE = struct.Struct("<i"), struct.Struct("<q"), struct.Struct("<d")
_FIXED = {1: 8, 6: 0, 7: 12, 8: 1, 9: 8, 10: 0, 16: 4, 17: 8, 18: 8, 19: 16, 127: 0, 255: 0}
"""Bytes of a value, by its type."""
_TEXTS, _DOCUMENTS, _BYTES, _PATTERN, _POINTER = (2, 13, 14), (3, 4, 15), 5, 11, 12
_OLD_BYTES = 2
"""A kind of bytes that says twice how long it is."""
Document = dict[str, Any]


class Broken(Exception):
    """It is no document."""


class DocumentInFile(NamedTuple):
    """A document in a file. None: it is broken."""

    offset: int
    length: int
    document: Document | None


def documents(file: IO[bytes], wanted: frozenset[str]) -> Iterator[DocumentInFile]:
    """All of a file, with those of their fields that are wanted. Broken where no further document begins."""
    offset = file.tell()
    while head := file.read(4):
        length = _INT.unpack(head)[0] if len(head) == 4 else 0
        if not 5 <= length <= MOST_DOCUMENT:
            raise Broken(f"at byte {offset:,} there is no document")
        data = head + file.read(length - 4)
        if len(data) < length:
            raise Broken(f"it ends in the middle of a document, at byte {offset:,}")
        try:
            yield DocumentInFile(offset, length, parse(data, wanted))
        except Broken:
            yield DocumentInFile(offset, length, None)
        offset += length
        file.seek(offset)


def parse(data: bytes, wanted: frozenset[str] | None = None) -> Document:
    """One document. Times are milliseconds, ids of MongoDB texts, and what stands for nothing here is None."""
    return dict(_elements(data, 0, len(data), wanted, 0))


def _elements(
    data: bytes, start: int, end: int, wanted: frozenset[str] | None, depth: int
) -> Iterator[tuple[str, Any]]:
    length = _length(data, start, end)
    if depth > MOST_DEPTH or length < 5 or start + length > end or data[start + length - 1]:
        raise Broken("a document is too deep, or not as long as it says")
    at, end = start + 4, start + length - 1
    while at < end:
        kind, stop = data[at], data.find(b"\0", at + 1, end)
        if stop < 0:
            raise Broken("a field has no name")
        key, begin = data[at + 1 : stop].decode(errors="replace"), stop + 1
        at = _end_of(data, begin, end, kind)
        if wanted is None or key in wanted:
            yield key, _value(data, begin, at, kind, depth)


def _end_of(data: bytes, at: int, end: int, kind: int) -> int:
    if kind in _FIXED:
        after = at + _FIXED[kind]
    elif kind in _TEXTS:
        after = at + 4 + max(1, _length(data, at, end))
    elif kind in _DOCUMENTS:
        after = at + max(5, _length(data, at, end))
    elif kind == _BYTES:
        after = at + 5 + max(0, _length(data, at, end))
    elif kind == _POINTER:
        after = at + 4 + max(1, _length(data, at, end)) + 12
    elif kind == _PATTERN:
        first = data.find(b"\0", at, end)
        after = data.find(b"\0", first + 1, end) + 1 if first >= 0 else 0
    else:
        raise Broken(f"there is no type {kind}")
    if not at <= after <= end:
        raise Broken("a value is longer than its document")
    return after


def _value(data: bytes, at: int, end: int, kind: int, depth: int) -> Any:
    if kind in _TEXTS:
        return data[at + 4 : end - 1].decode(errors="replace")
    if kind == 3:
        return dict(_elements(data, at, end, None, depth + 1))
    if kind == 4:
        return [value for _, value in _elements(data, at, end, None, depth + 1)]
    if kind == _BYTES:
        return data[at + (9 if data[at + 4] == _OLD_BYTES else 5) : end]
    if kind == 7:
        return data[at:end].hex()
    if kind == 8:
        return data[at] != 0
    if kind == 1:
        return _DOUBLE.unpack_from(data, at)[0]
    if kind == 16:
        return _INT.unpack_from(data, at)[0]
    return _LONG.unpack_from(data, at)[0] if kind in (9, 18) else None


def _length(data: bytes, at: int, end: int) -> int:
    if at + 4 > end:
        raise Broken("a value is longer than its document")
    return int(_INT.unpack_from(data, at)[0])
