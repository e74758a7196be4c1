"""Running text to HTML: one scan over the text, from one character that may mean something to the next.

Each such character has a reader that answers with HTML and the place where to go on, or leaves the character as it is.
Linear: a reader looks at text only up to where it succeeds or where the next of its kind begins, a stretch that was tried in
vain is not tried again, and partners (brackets, backticks) are found in one pass.
"""

import re
from collections.abc import Callable
from functools import cache
from html.entities import html5

from tertulia.content.markup.addresses import find_at_colon, find_in_run, run_around
from tertulia.content.markup.emphasis import Emphasis
from tertulia.content.markup.escaping import escape
from tertulia.content.markup.linkifiers import LinkifierMatch
from tertulia.content.markup.links import Link, automatic_link, linkifier_link, read_link
from tertulia.content.markup.page import Page
from tertulia.content.markup.pairs import Pairs
from tertulia.content.markup.references import Atom, read_channel_link, read_mention
from tertulia.content.markup.typography import (
    EMOJI_CHARACTERS,
    read_emoji_characters,
    read_emoji_name,
    read_emoticon,
    read_keycap,
    read_tex,
    read_time,
)

_ENTITY = re.compile(r"&(?:#(?:\d{1,7}|[xX][0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]{1,31}));")
_RUNS = re.compile(r"\*+|~+")


def render_inline(page: Page, text: str, *, in_link: bool = False) -> tuple[str, list[Link]]:
    """Text as HTML, and the links that lead out of it, in order."""
    if not _triggers(page.context.translate_emoticons).search(text) and page.linkifiers is None:
        return escape(text), []
    scan = _Scan(page, text, in_link=in_link)
    scan.run()
    return "".join(scan.out), scan.links


@cache
def _triggers(with_emoticons: bool) -> re.Pattern[str]:
    return re.compile(rf"[`*~@$#<\[&:.\n{';(' if with_emoticons else ''}{EMOJI_CHARACTERS}]")


class _Scan:
    """One pass over one text. `start` is where the text begins that has not been written yet."""

    __slots__ = ("emphasis", "in_link", "links", "matches", "out", "page", "pairs", "start", "text", "tried")

    def __init__(self, page: Page, text: str, *, in_link: bool) -> None:
        self.page = page
        self.text = text
        self.in_link = in_link
        self.out: list[str] = []
        self.links: list[Link] = []
        self.emphasis = Emphasis(self.out)
        self.pairs = Pairs(text)
        self.start = 0
        self.tried = 0  # up to here no bare address begins
        self.matches: list[LinkifierMatch] = []
        if not in_link and page.linkifiers is not None:
            self.matches = self.pairs.outside_code(page.linkifiers.find(text))
            self.matches.reverse()

    def run(self) -> None:
        text, search = self.text, _triggers(self.page.context.translate_emoticons).search
        end = len(text)
        position = 0
        place = -1
        while True:
            if place < position:
                trigger = search(text, position)
                place = trigger.start() if trigger else end
            if self.matches and self.matches[-1].start <= place:
                position = self._linkify(position)
            elif place == end:
                break
            else:
                position = _READERS.get(text[place], _Scan._emoji)(self, place)
        self._write_text(end)

    def _write_text(self, end: int) -> None:
        if end > self.start:
            self.out.append(escape(self.text[self.start : end]))

    def _put(self, html: str, start: int, end: int) -> int:
        self._write_text(start)
        self.out.append(html)
        self.start = end
        return end

    def _atom(self, atom: Atom | None, start: int) -> int:
        return start + 1 if atom is None else self._put(atom[0], start, atom[1])

    def _linkify(self, position: int) -> int:
        match = self.matches.pop()
        if match.start < max(position, self.start):
            return position
        return self._link(linkifier_link(self.page, self.text, match))

    def _link(self, link: Link) -> int:
        self.links.append(link)
        return self._put(link.html, link.start, link.end)

    def _code(self, place: int) -> int:
        span = self.pairs.code_span(place)
        if span is None:
            return self.pairs.after_backticks(place)
        start, end = span
        return self._put(f"<code>{escape(self.text[start:end])}</code>", place, end + start - place)

    def _delimiter(self, place: int) -> int:
        run = _RUNS.match(self.text, place)
        assert run is not None  # a delimiter called
        end = run.end()
        if self.text.startswith("\ufe0f\u20e3", end) and run.group() == "*":
            return place + 1  # a key cap
        before = self.text[place - 1] if place else ""
        self._write_text(place)
        self.emphasis.delimit(run.group(), before if before != "\n" else "", self.text[end : end + 1].strip("\n"))
        self.start = end
        return end

    def _newline(self, place: int) -> int:
        end = place
        while end > self.start and self.text[end - 1] == " ":
            end -= 1
        self._write_text(end)
        self.emphasis.end_line()
        self.out.append("<br>\n")
        self.start = place + 1
        while self.text.startswith(" ", self.start):
            self.start += 1
        return self.start

    def _at(self, place: int) -> int:
        if self.page.allows_references and (atom := read_mention(self.page, self.text, place)):
            return self._put(atom[0], place, atom[1])
        return self._address(place)

    def _hash(self, place: int) -> int:
        if self.in_link or not self.page.allows_references or not self.text.startswith("#**", place):
            return place + 1
        return self._atom(read_channel_link(self.page, self.text, place), place)

    def _dollar(self, place: int) -> int:
        return self._atom(read_tex(self.text, place), place)

    def _less(self, place: int) -> int:
        if atom := read_time(self.text, place):
            return self._put(atom[0], place, atom[1])
        return self._emoticon(place)

    def _bracket(self, place: int) -> int:
        if self.in_link or (close := self.pairs.closing_bracket(place)) is None:
            return place + 1
        link = read_link(
            self.page, self.text, place, close, lambda inner: render_inline(self.page, inner, in_link=True)[0]
        )
        return place + 1 if link is None or link.start < self.start else self._link(link)

    def _ampersand(self, place: int) -> int:
        entity = _ENTITY.match(self.text, place)
        if entity is None or (entity[1] and f"{entity[1]};" not in html5):
            return place + 1
        return self._put(entity.group(), place, entity.end())

    def _colon(self, place: int) -> int:
        if not self.in_link and (found := find_at_colon(self.text, place, self.start)):
            return self._link(automatic_link(self.page, self.text, found))
        if atom := read_emoji_name(self.page, self.text, place):
            return self._put(atom[0], place, atom[1])
        return self._emoticon(place)

    def _emoticon(self, place: int) -> int:
        atom = read_emoticon(self.text, place) if self.page.context.translate_emoticons else None
        return self._atom(atom, place)

    def _address(self, place: int) -> int:
        if self.in_link or place < self.tried:
            return place + 1
        start, end = run_around(self.text, place, self.start)
        found = find_in_run(self.text, start, end)
        if found is None:
            self.tried = end
            return place + 1
        return self._link(automatic_link(self.page, self.text, found))

    def _keycap(self, place: int) -> int:
        found = read_keycap(self.text, place, self.start)
        return place + 1 if found is None else self._put(found[0], found[1], place + 1)

    def _emoji(self, place: int) -> int:
        html, end = read_emoji_characters(self.text, place)
        return end if html is None else self._put(html, place, end)


_READERS: dict[str, Callable[[_Scan, int], int]] = {
    "`": _Scan._code,
    "*": _Scan._delimiter,
    "~": _Scan._delimiter,
    "@": _Scan._at,
    "$": _Scan._dollar,
    "#": _Scan._hash,
    "<": _Scan._less,
    "[": _Scan._bracket,
    "&": _Scan._ampersand,
    ":": _Scan._colon,
    ".": _Scan._address,
    "\n": _Scan._newline,
    ";": _Scan._emoticon,
    "(": _Scan._emoticon,
    "\u20e3": _Scan._keycap,
}
