"""Markdown as chats have it, as a tree (pure): blocks by lines, styles by marks on both sides. Sources differ in a few things.

Each character is looked at a bounded number of times: a mark that opens is closed by the next one like it, or means nothing. The
writer joins what has the same style, so a text of very many marks is none that is taken apart.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tertulia.archives.converting.tree import (
    Block,
    CodeBlock,
    Heading,
    Inline,
    Item,
    Items,
    Paragraph,
    Quote,
    Spoiler,
    Text,
    in_style,
)

URL = r"https?://[^\s<>]*[^\s<>.,:;\"'\])*_~|!?]"
LABELLED = r"\[(?P<label>[^\[\]\n]{1,500})\]\((?P<url>https?://[^\s()<>]{1,2000}(?:\([^\s()<>]{0,500}\)[^\s()<>]{0,500}){0,20})\)"
CODE = r"(?P<ticks>`{1,2})(?P<code>[^`\n]{1,4000})(?P=ticks)"
ESCAPED = r"\\(?P<escaped>[!-/:-@\[-`{-~])"
_FENCE = re.compile(r"```(?!`)(?:(?P<language>[\w+#.-]{0,30})\n)?(?P<code>.+?)```", re.DOTALL)
_HEADING = re.compile(r"#{1,4}[ ]+(?P<text>\S.*)")
_ITEM = re.compile(r"(?P<indent>[ ]{0,20})(?:[-*+]|(?P<number>\d{1,9})\.)[ ]+(?P<text>\S.*)")
MOST_MARKUP = 50_000
"""Characters. What is longer was written by nobody in a chat, and is words."""
MOST_ITEM_DEPTH = 6
_BOTH = "***"


@dataclass(frozen=True)
class Dialect:
    """What one chat's is like. `read`: what a match of `tokens` stands for; a text is a mark, or means itself."""

    tokens: "re.Pattern[str]"
    """What stands for itself, and all marks."""
    marks: Mapping[str, tuple[str, ...]]
    """Styles: of `Text`, or "spoiler"."""
    edged: frozenset[str]
    """Marks that count only at the edges of words."""
    read: "Callable[[re.Match[str]], Inline | str]"
    quote: str = ">"
    rest_quote: str = ""
    """Quotes everything that follows."""
    spans_lines: bool = False
    """Styles go on in the next line."""


def marks_of(marks: Mapping[str, tuple[str, ...]]) -> str:
    """The pattern of all marks: the longest first."""
    return "|".join(re.escape(mark) for mark in sorted(marks, key=len, reverse=True))


def parse(text: str, dialect: Dialect) -> list[Block]:
    """The blocks of a text."""
    if len(text) > MOST_MARKUP:
        return [Paragraph([Text(text)])]
    blocks: list[Block] = []
    place = 0
    for code in _FENCE.finditer(text):
        blocks += _Lines(dialect).read(text[place : code.start()].removesuffix("\n"))
        blocks.append(CodeBlock(code["code"], code["language"] or ""))
        place = code.end()
        if text.startswith("\n", place):
            place += 1
    return blocks + _Lines(dialect).read(text[place:])


def parse_inline(text: str, dialect: Dialect) -> list[Inline]:
    """Running text, where there are no blocks."""
    if len(text) > MOST_MARKUP:
        return [Text(text)]
    return [one for one, _ in _Run(text, dialect).parse()]


# Blocks


class _Lines:
    """Lines of one kind that follow each other are one block."""

    def __init__(self, dialect: Dialect, *, is_quoted: bool = False) -> None:
        self._dialect = dialect
        self._is_quoted = is_quoted
        self._blocks: list[Block] = []
        self._kept: list[str] = []
        self._quoted: list[str] = []
        self._items: list[Item] = []

    def read(self, text: str) -> list[Block]:
        lines = text.split("\n")
        for place, line in enumerate(lines):
            if not self._is_quoted and self._dialect.rest_quote and line.startswith(self._dialect.rest_quote):
                self._end()
                self._quoted = [line.removeprefix(self._dialect.rest_quote).lstrip(), *lines[place + 1 :]]
                break
            self._take(line)
        self._end()
        return self._blocks

    def _take(self, line: str) -> None:
        hides = "||" in line  # what is hidden is a block of its own, and in none of these
        if not self._is_quoted and line.startswith(self._dialect.quote):
            if self._kept or self._items:
                self._end()
            self._quoted.append(line.removeprefix(self._dialect.quote).removeprefix(" "))
        elif (found := _ITEM.fullmatch(line)) and not hides:
            if self._kept or self._quoted:
                self._end()
            number = None if found["number"] is None else int(found["number"])
            depth = min(len(found["indent"]) // 2, MOST_ITEM_DEPTH)
            self._items.append(Item(parse_inline(found["text"], self._dialect), depth, number))
        elif (found := _HEADING.fullmatch(line)) and not hides:
            self._end()
            self._blocks.append(Heading(parse_inline(found["text"], self._dialect)))
        else:
            if self._quoted or self._items:
                self._end()
            self._kept.append(line)

    def _end(self) -> None:
        if any(line.strip() for line in self._kept):
            self._blocks.extend(_paragraphs("\n".join(self._kept), self._dialect))
        if self._quoted:
            self._blocks.append(Quote(_Lines(self._dialect, is_quoted=True).read("\n".join(self._quoted))))
        if self._items:
            self._blocks.append(Items(self._items))
        self._kept, self._quoted, self._items = [], [], []


def _paragraphs(text: str, dialect: Dialect) -> Iterator[Block]:
    """What is hidden stands apart."""
    parts = [text] if dialect.spans_lines else text.split("\n")
    run: list[Inline] = []
    is_hidden = False
    for place, part in enumerate(parts):
        if place:
            run.append(Text("\n"))
        for one, hidden in _Run(part, dialect).parse():
            if hidden != is_hidden:
                yield from _shown(run, is_hidden)
                run, is_hidden = [], hidden
            run.append(one)
    yield from _shown(run, is_hidden)


def _shown(run: list[Inline], is_hidden: bool) -> Iterator[Block]:
    if any(not isinstance(one, Text) or one.text.strip() for one in run):
        paragraph = Paragraph(run)
        yield Spoiler([paragraph]) if is_hidden else paragraph


# Running text


class _Run:
    """First what stands for itself, then styles around it."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        self._dialect = dialect
        self._tokens: list[str | Inline] = list(self._read(text))
        self._opening: dict[int, tuple[str, ...]] = {}
        self._closing: dict[int, tuple[str, ...]] = {}

    def parse(self) -> Iterator[tuple[Inline, bool]]:
        """Each with whether it is hidden."""
        self._pair()
        depth = dict.fromkeys(("bold", "italic", "strike", "spoiler"), 0)
        for place, token in enumerate(self._tokens):
            for styles, step in ((self._opening.get(place), 1), (self._closing.get(place), -1)):
                for name in styles or ():
                    depth[name] += step
            if place in self._opening or place in self._closing:
                continue
            style = Text("", depth["bold"] > 0, depth["italic"] > 0, depth["strike"] > 0)
            one = Text(token) if isinstance(token, str) else token
            yield in_style(one, style), depth["spoiler"] > 0

    def _read(self, text: str) -> Iterator[str | Inline]:
        place = 0
        for found in self._dialect.tokens.finditer(text):
            if found.start() > place:
                yield text[place : found.start()]
            place = found.end()
            yield self._dialect.read(found)
        if place < len(text):
            yield text[place:]

    def _pair(self) -> None:
        """Those still open lie on a stack: whatever was opened within what closes means nothing."""
        stack: list[int] = []
        is_open: dict[str, int] = {}

        def close(mark: str, at: int) -> None:
            begun = is_open[mark]
            while stack:
                last = stack.pop()
                is_open.pop(str(self._tokens[last]), None)
                if last == begun:
                    break
            self._opening[begun] = self._dialect.marks[mark]
            self._closing[at] = (*self._closing.get(at, ()), *self._dialect.marks[mark])

        for place, token in enumerate(self._tokens):
            if not isinstance(token, str) or token not in self._dialect.marks:
                continue
            if self._may_close(place) and token in is_open and is_open[token] < place - 1:
                close(token, place)
            elif token == _BOTH and self._may_close(place) and {"*", "**"} <= is_open.keys():
                inner, outer = sorted(("*", "**"), key=lambda one: is_open[one], reverse=True)
                close(inner, place)
                close(outer, place)
            elif token not in is_open and self._may_open(place):
                is_open[token] = place
                stack.append(place)

    def _may_open(self, place: int) -> bool:
        mark = str(self._tokens[place])
        after, before = self._edge(place + 1, 0), self._edge(place - 1, -1)
        return not after.isspace() and not (mark in self._dialect.edged and before.isalnum())

    def _may_close(self, place: int) -> bool:
        mark = str(self._tokens[place])
        after, before = self._edge(place + 1, 0), self._edge(place - 1, -1)
        return not before.isspace() and not (mark in self._dialect.edged and after.isalnum())

    def _edge(self, place: int, at: int) -> str:
        """The character of a neighbour that is next to us: its last or its first. A node is no word and no blank."""
        if not 0 <= place < len(self._tokens):
            return " "
        token = self._tokens[place]
        return token[at] if isinstance(token, str) else "."
