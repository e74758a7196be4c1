"""JSON that may be larger than memory: the members of its arrays, one at a time (pure)."""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from tertulia.archives.converting.zips import MOST_RECORD, Lose

BROKEN = "files of the export that are cut or broken: their beginnings were read"
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[\s\ufeff]*")
_BETWEEN = re.compile(r"[\s,]*")


class _Broken(Exception):
    """What follows is no JSON, or too long."""


class _Window:
    """A part of the text: always with room for a whole record after `at`, until the end."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._is_whole = False
        self.text = ""
        self.at = 0

    def skip(self, pattern: "re.Pattern[str]") -> str:
        """The character after what is skipped."""
        self._fill()
        self.at = pattern.match(self.text, self.at).end()  # type: ignore[union-attr]  # it matches nothing as well
        return self.text[self.at : self.at + 1]

    def value(self) -> Any:
        """What begins here."""
        self._fill()
        try:
            found, self.at = _DECODER.raw_decode(self.text, self.at)
        except (ValueError, RecursionError) as problem:
            raise _Broken from problem
        return found

    def _fill(self) -> None:
        if self._is_whole or len(self.text) - self.at >= MOST_RECORD:
            return
        parts, size = [self.text[self.at :]], len(self.text) - self.at
        while size < 2 * MOST_RECORD and not self._is_whole:
            piece = next(self._pieces, None)
            self._is_whole = piece is None
            parts.append(self._decoder.decode(piece or b"", final=self._is_whole))
            size += len(parts[-1])
        self.text, self.at = "".join(parts), 0


def members(
    pieces: Iterator[bytes], name: str, lose: Lose, wanted: frozenset[str] = frozenset()
) -> Iterator[tuple[str, Any]]:
    """Of an object each member of each array, with the key of the array; of an array its members, with no key.

    Other values are passed over, unless their keys are `wanted`. What comes after something broken is lost, and told.
    """
    window = _Window(pieces)
    try:
        opening = window.skip(_SPACE)
        if opening == "[":
            yield from _array(window, "")
        elif opening == "{":
            window.at += 1
            while window.skip(_BETWEEN) not in ("}", ""):
                key = window.value()
                if not isinstance(key, str) or window.skip(_SPACE) != ":":
                    raise _Broken
                window.at += 1
                if window.skip(_SPACE) == "[":
                    yield from _array(window, key)
                else:
                    value = window.value()
                    if key in wanted:
                        yield key, value
            if window.skip(_BETWEEN) != "}":
                raise _Broken
        else:
            raise _Broken
    except _Broken:
        lose(BROKEN, name, "")


def _array(window: _Window, key: str) -> Iterator[tuple[str, Any]]:
    window.at += 1
    while (sign := window.skip(_BETWEEN)) != "]":
        if not sign:
            raise _Broken
        yield key, window.value()
    window.at += 1
