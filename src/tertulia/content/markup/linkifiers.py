"""Linkifiers: patterns of a realm that become links. They run in a linear-time engine only.

A match begins at the start, after whitespace or one of ' " ( , : < and ends before anything but a letter or a digit.

Linear is not quick: a large pattern costs much for each letter of a text, and one that finds little may look far ahead for each
of it. All realms of a process wait meanwhile. So patterns have a size, texts a time, and those that take long again and again are
not looked for until that is made up for.
"""

import time
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import re2

from tertulia.content.markup.addresses import clean_url
from tertulia.content.markup.model import Linkifier
from tertulia.content.markup.templates import expand
from tertulia.kernel.limits import TimeBudgets
from tertulia.kernel.urls import MAX_URL

# A pattern is looked for a bounded number of times in one text.
_MAX_MATCHES = 1000
# What is longer is no link: its address would be too long, and a template may name it hundreds of times.
_MAX_LINKED = 2000
_MAX_MEMORY = 4 << 20
_MAX_SIZE = 5000
"""Of a pattern as the engine runs it, with what stands around it, which is a fourth of that. An ordinary one adds some dozens, a
class of all letters a thousand, any 200 signs 3,000. What repeats 900 of something again and again takes seconds in one text."""
_MOST_SECONDS = 0.05
"""Of processor time, in one text: what was found by then is found. An ordinary message takes less than a thousandth of it."""
_FREE_SECONDS = 0.02
"""What one text takes counts beyond that."""
FREE_SECONDS_OF_NAME = 0.0002
"""The same of a name: thousands of topics are shown at once. With ordinary linkifiers one takes less."""
_BURST_SECONDS, _SHARE = 0.5, 0.02
"""So much more may a realm's list of linkifiers take, and so much of all time after that."""
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
        self.time = TimeBudgets(_BURST_SECONDS, _SHARE)

    def find(self, text: str, free: float = _FREE_SECONDS) -> list[LinkifierMatch]:
        """The matches in a whole text by position, none of them overlapping: of two that do, the earlier linkifier's stays."""
        return Search(self, free).find(text)

    def find_until(self, text: str, until: float) -> list[LinkifierMatch]:
        """The same, as far as that is found before so much processor time of this thread is used."""
        encoded = text.encode("utf-8", "replace")
        numbers = self._any.Match(encoded)
        if not numbers:
            return []
        found: list[LinkifierMatch] = []
        for number in sorted(numbers):
            pattern, template = self._patterns[number]
            for match in _matches(pattern, template, encoded, until):
                place = bisect_left(found, match)
                is_free = (place == 0 or found[place - 1].end <= match.start) and (
                    place == len(found) or match.end <= found[place].start
                )
                if is_free:
                    found.insert(place, match)
        return found if len(encoded) == len(text) else _in_characters(encoded, found)


class Search:
    """Looks for the linkifiers of a realm in one text, paragraph by paragraph: a text has one time, however many it has."""

    def __init__(self, matcher: Matcher, free: float = _FREE_SECONDS) -> None:
        """`free`: so many seconds do not count."""
        self._matcher = matcher
        self._free = free
        self._used = 0.0

    def find(self, piece: str) -> list[LinkifierMatch]:
        """The matches in a piece of the text."""
        if self._used > _MOST_SECONDS or self._matcher.time.wait(""):
            return []
        began = time.thread_time()
        found = self._matcher.find_until(piece, began + _MOST_SECONDS - self._used)
        counted = max(self._used, self._free)
        self._used += time.thread_time() - began
        if self._used > counted:
            self._matcher.time.spend("", self._used - counted)
        return found


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
        if _compile(pattern).programsize > _MAX_SIZE:
            return "it is too large: it repeats too much"
    except re2.error as error:
        return error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else str(error)
    return "it matches the empty text" if alone.fullmatch(b"") else None


def _compiled(pattern: str) -> Any:
    try:
        compiled = _compile(pattern)
    except re2.error:
        return None  # it was accepted once; a message must not fail because of it
    return compiled if compiled.programsize <= _MAX_SIZE else None


def _compile(pattern: str) -> Any:
    return re2.compile(f"{_BEFORE}({pattern}){_AFTER}".encode(), _options())


def _options() -> Any:
    options = re2.Options()
    options.max_mem = _MAX_MEMORY
    options.log_errors = False
    return options


def _matches(pattern: Any, template: str, text: bytes, until: float) -> Iterator[LinkifierMatch]:
    position = 0
    for _ in range(_MAX_MATCHES):
        if time.thread_time() > until or (match := pattern.search(text, position)) is None:
            return
        start, end = match.span(1)
        if end == start or end - start > _MAX_LINKED:
            position = max(end, start + 1)
            continue
        groups = {_text(name): _text(value) for name, value in match.groupdict().items() if value is not None}
        address = expand(template, groups)
        url = clean_url(address) if len(address) <= MAX_URL else None
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
