"""Linkifiers: patterns of a realm that become links. They run in a linear-time engine only.

A match begins at the start, after whitespace or one of ' " ( , : < and ends before anything but a letter or a digit.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import re2

from tertulia.content.markup.addresses import clean_url
from tertulia.content.markup.model import Linkifier
from tertulia.content.markup.templates import expand

# A pattern is looked for a bounded number of times in one text.
_MAX_MATCHES = 1000
_MAX_MEMORY = 4 << 20
_BEFORE = r"""(?:^|[\s\pZ'"(,:<])"""
_AFTER = r"(?:$|[^\pL\pN])"


class LinkifierMatch(NamedTuple):
    """Where a linkifier applies, and the address it makes."""

    start: int
    end: int
    url: str


class Matcher:
    """All linkifiers of a realm, compiled. One pass over a text tells which of them may occur in it; most often none does.

    Of those that are too large together the first ones count, as many as go: a text is rendered all the same.
    """

    def __init__(self, linkifiers: tuple[Linkifier, ...]) -> None:
        usable = [(one, pattern) for one in linkifiers if (pattern := _compiled(one.pattern)) is not None]
        self._patterns = [(pattern, one.url_template) for one, pattern in usable]
        self._any = _largest_set([one.pattern for one, _ in usable])

    def find(self, text: str) -> list[LinkifierMatch]:
        """The matches in a text by position, none of them overlapping: of two that do, the earlier linkifier's stays."""
        encoded = text.encode("utf-8", "replace")
        numbers = self._any.Match(encoded)
        if not numbers:
            return []
        found: list[LinkifierMatch] = []
        for number in sorted(numbers):
            pattern, template = self._patterns[number]
            for match in _matches(pattern, template, encoded):
                place = bisect_left(found, match)
                is_free = (place == 0 or found[place - 1].end <= match.start) and (
                    place == len(found) or match.end <= found[place].start
                )
                if is_free:
                    found.insert(place, match)
        return found if len(encoded) == len(text) else _in_characters(encoded, found)


def _largest_set(patterns: list[str]) -> Any:
    """A set of all patterns, or else of the longest beginning that fits into the memory of one."""
    if (whole := _set_of(patterns)) is not None:
        return whole
    fits, too_many, largest = 0, len(patterns), _set_of([])
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if (found := _set_of(patterns[:middle])) is None:
            too_many = middle
        else:
            fits, largest = middle, found
    return largest


def _set_of(patterns: Sequence[str]) -> Any:
    """None if they are too large together."""
    made = re2.Set.SearchSet(_options())
    try:
        for pattern in patterns:
            made.Add(f"{_BEFORE}(?:{pattern})".encode())
        made.Compile()
    except re2.error:
        return None
    return made


def fit_together(patterns: Sequence[str]) -> bool:
    """Whether all linkifiers of a realm can be looked for at once. Each of them can be run."""
    return _set_of(patterns) is not None


@lru_cache(maxsize=256)
def matcher_of(linkifiers: tuple[Linkifier, ...]) -> Matcher:
    """The compiled form; the lists of busy realms stay in memory."""
    return Matcher(linkifiers)


def check_pattern(pattern: str) -> str | None:
    """What is wrong with a pattern, or None."""
    try:
        alone = re2.compile(pattern.encode(), _options())
        _compile(pattern)
    except re2.error as error:
        return error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else str(error)
    return "it matches the empty text" if alone.fullmatch(b"") else None


def _compiled(pattern: str) -> Any:
    try:
        return _compile(pattern)
    except re2.error:
        return None  # it was accepted once; a message must not fail because of it


def _compile(pattern: str) -> Any:
    return re2.compile(f"{_BEFORE}({pattern}){_AFTER}".encode(), _options())


def _options() -> Any:
    options = re2.Options()
    options.max_mem = _MAX_MEMORY
    options.log_errors = False
    return options


def _matches(pattern: Any, template: str, text: bytes) -> Iterator[LinkifierMatch]:
    position = 0
    for _ in range(_MAX_MATCHES):
        match = pattern.search(text, position)
        if match is None:
            return
        start, end = match.span(1)
        if end == start:
            position = end + 1
            continue
        groups = {_text(name): _text(value) for name, value in match.groupdict().items() if value is not None}
        url = clean_url(expand(template, groups))
        if url is not None:
            yield LinkifierMatch(start, end, url)
        position = end


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _in_characters(text: bytes, found: list[LinkifierMatch]) -> list[LinkifierMatch]:
    converted = []
    seen_bytes = seen_characters = 0
    for match in found:
        seen_characters += len(text[seen_bytes : match.start].decode())
        length = len(text[match.start : match.end].decode())
        converted.append(LinkifierMatch(seen_characters, seen_characters + length, match.url))
        seen_characters += length
        seen_bytes = match.end
    return converted


def group_names(pattern: str) -> frozenset[str]:
    """The named groups of a pattern that can be run."""
    return frozenset(name.decode() for name in re2.compile(pattern.encode(), _options()).groupindex)
