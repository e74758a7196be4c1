"""Mattermost's Markdown as a tree (pure).

It is CommonMark with tables, struck text, mentions and emoji, and a new line is one. markdown-it reads it; what stands for
somebody or something is found by rules of our own, before styles are: a name may have underscores in it.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Protocol

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from tertulia.archives.converting import markdown
from tertulia.archives.converting.tree import (
    Block,
    ChannelLink,
    CodeBlock,
    Divider,
    Emoji,
    Everyone,
    Heading,
    Inline,
    Item,
    Items,
    Link,
    Mention,
    Paragraph,
    Quote,
    Text,
    in_style,
)
from tertulia.content.markup.addresses import find_at_colon

MOST_MARKUP = 20_000
"""Characters. A post has at most 16,383; what is longer was written by no Mattermost, and is words."""
MOST_QUOTES = 3
"""In each other: a deeper one is part of the one around it."""
_PLAIN = re.compile(r"(?!\s|\d+[.)])(?:[^\W_]|[ ,.?()'\"/%;])*")
_NAME = re.compile(r"@([A-Za-z0-9._-]+)")
_CHANNEL = re.compile(r"~([a-z0-9][a-z0-9._-]*)")
_EMOJI = re.compile(r":([\w+-]{1,100}):")
_SIZED_PICTURE = re.compile(r"!\[([^\[\]\n]*)\]\(([^\s()<>]{1,2000}) +=\d{0,5}x?\d{0,5} *(?:\"[^\"\n]*\" *)?\)")
_EVERYBODY = ("all", "channel", "here")
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")
_FORMULAS = ("latex", "tex", "katex")
_STYLES = {"strong": 0, "em": 1, "s": 2}


class Names(Protocol):
    """What names in a text stand for here."""

    def person(self, username: str) -> int | None:
        """Somebody's id in the archive, if they are known."""

    def channel(self, name: str) -> tuple[int, str] | None:
        """Id and name of a channel that may be named here."""

    def emoji(self, name: str) -> str | None:
        """Our name of an emoji."""


def parse(text: str, names: Names) -> list[Block]:
    """The blocks of a text."""
    text = markdown.clean(text)
    if not text.strip():
        return []
    if _PLAIN.fullmatch(text) or len(text) > MOST_MARKUP:
        return [Paragraph([Text(text)])]
    return _Reading(_parser().parse(text, {"names": names})).blocks("")


def parse_inline(text: str, names: Names) -> list[Inline]:
    """Running text, where there are no blocks."""
    text = markdown.clean(text)
    if len(text) > MOST_MARKUP:
        return [Text(text)]
    return [one for token in _parser().parseInline(text, {"names": names}) for one in _inlines(token.children or ())]


class _Reading:
    """Goes through the tokens of a text once."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = iter(tokens)

    def blocks(self, end: str, quotes: int = 0) -> list[Block]:
        """All up to the token `end`."""
        found: list[Block] = []
        for token in self._tokens:
            if token.type == end:
                break
            for block in self._block(token, quotes):
                if isinstance(block, Items) and found and isinstance(last := found[-1], Items):
                    last.items.extend(block.items)
                else:
                    found.append(block)
        return found

    def _block(self, token: Token, quotes: int) -> Iterator[Block]:
        if token.type == "paragraph_open":
            yield Paragraph(self._inline())
        elif token.type == "heading_open":
            yield Heading(self._inline())
        elif token.type in ("fence", "code_block"):
            yield _code(token)
        elif token.type == "hr":
            yield Divider()
        elif token.type == "blockquote_open":
            inside = self.blocks("blockquote_close", quotes + 1)
            yield from [Quote(inside)] if quotes < MOST_QUOTES else inside
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            yield from self._list(token, 0, quotes)
        elif token.type == "table_open":
            yield Paragraph(self._table())

    def _inline(self) -> list[Inline]:
        """Of the block that has begun; its end is passed."""
        token = next(self._tokens)
        next(self._tokens)
        return _inlines(token.children or ())

    def _list(self, opening: Token, depth: int, quotes: int) -> Iterator[Block]:
        """What an item has besides running text stands after it."""
        end = opening.type.replace("_open", "_close")
        number = None if opening.type == "bullet_list_open" else int(opening.attrGet("start") or 1)
        for token in self._tokens:
            if token.type == end:
                return
            yield from self._item(number, depth, quotes)
            number = None if number is None else number + 1

    def _item(self, number: int | None, depth: int, quotes: int) -> Iterator[Block]:
        is_first = True
        for token in self._tokens:
            if token.type == "list_item_close":
                return
            if token.type == "paragraph_open" and is_first:
                yield Items([Item(self._inline(), depth, number)])
                is_first = False
            elif token.type in ("bullet_list_open", "ordered_list_open"):
                yield from self._list(token, depth + 1, quotes)
            else:
                yield from self._block(token, quotes)

    def _table(self) -> list[Inline]:
        """Each row as a line: cells may hold more than a table of ours can."""
        found: list[Inline] = []
        is_first = True
        for token in self._tokens:
            if token.type == "table_close":
                break
            if token.type == "tr_open":
                found += [Text("\n")] if found else []
                is_first = True
            elif token.type == "inline":
                found += [] if is_first else [Text(" | ")]
                found += _inlines(token.children or ())
                is_first = False
        return found


def _code(token: Token) -> CodeBlock:
    """What stands beside the fence and is no language was meant to be code."""
    language, text = token.info.strip(), token.content.removesuffix("\n")
    if language.lower() in _FORMULAS:
        return CodeBlock(text, is_formula=True)
    if not _LANGUAGE.fullmatch(language) or not text.strip():
        return CodeBlock(f"{language}\n{text}".strip("\n") if language else text)
    return CodeBlock(text, language)


def _inlines(tokens: Sequence[Token]) -> list[Inline]:
    found: list[Inline] = []
    depths = [0, 0, 0]
    rest = iter(tokens)
    for token in rest:
        name, _, way = token.type.rpartition("_")
        if name in _STYLES:
            depths[_STYLES[name]] += 1 if way == "open" else -1
        elif token.type == "node":
            found.append(in_style(token.meta["node"], _style(depths)))
        elif token.type in ("softbreak", "hardbreak"):
            found.append(Text("\n"))
        elif token.type == "link_open":
            found.append(in_style(_link(str(token.attrGet("href") or ""), rest), _style(depths)))
        elif token.type == "image":
            found.append(Link(str(token.attrGet("src") or ""), token.content))
        elif token.content:
            found.append(in_style(Text(token.content, code=token.type == "code_inline"), _style(depths)))
    return found


def _style(depths: Sequence[int]) -> Text:
    return Text("", *(depth > 0 for depth in depths))


def _link(url: str, rest: Iterator[Token]) -> Link:
    inside: list[Token] = []
    for token in rest:
        if token.type == "link_close":
            break
        inside.append(token)
    named = (Text(f":{one.name}:") if isinstance(one, Emoji) else one for one in _inlines(inside))
    label = markdown.write_words(named)
    return Link(url, "" if label == url else label)


# Rules of the inline parser


class _Parser(MarkdownIt):
    """Whether an address may be a link is decided by the writer, and for all sources alike."""

    def validateLink(self, url: str) -> bool:  # noqa: N802, ARG002, its name there
        return True

    def normalizeLink(self, url: str) -> str:  # noqa: N802
        return url

    def normalizeLinkText(self, link: str) -> str:  # noqa: N802
        return link


@cache
def _parser() -> MarkdownIt:
    parser = _Parser("commonmark", {"html": False, "maxNesting": 20}).enable(["table", "strikethrough"])
    for rule in (_mention, _channel, _address, _emoji, _sized_picture):
        parser.inline.ruler.before("newline", rule.__name__.strip("_"), rule)
    return parser


def _found(state: StateInline, node: Inline, end: int, silent: bool) -> bool:
    if not silent:
        state.push("node", "", 0).meta = {"node": node}
    state.pos = end
    return True


def _is_in_word(state: StateInline) -> bool:
    before = state.src[state.pos - 1] if state.pos else " "
    return before.isalnum() or before in "_@~"


def _mention(state: StateInline, silent: bool) -> bool:
    """A name may end like a sentence: the longest one that is known counts."""
    found = _NAME.match(state.src, state.pos)
    if found is None or _is_in_word(state) or state.linkLevel:
        return False
    name = found[1]
    while name:
        person = None if name.lower() in _EVERYBODY else state.env["names"].person(name)
        if person is not None or name.lower() in _EVERYBODY:
            node = Everyone() if person is None else Mention(person)
            return _found(state, node, state.pos + 1 + len(name), silent)
        if name[-1] not in "._-":
            return False
        name = name[:-1]
    return False


def _channel(state: StateInline, silent: bool) -> bool:
    found = _CHANNEL.match(state.src, state.pos)
    if found is None or _is_in_word(state) or state.linkLevel:
        return False
    name = found[1].rstrip("._-")
    channel = state.env["names"].channel(name)
    return channel is not None and _found(state, ChannelLink(*channel), state.pos + 1 + len(name), silent)


def _address(state: StateInline, silent: bool) -> bool:
    """A bare address: nothing in it is markup. Its scheme is behind us already."""
    if state.src[state.pos] != ":" or state.linkLevel or not state.src.startswith("://", state.pos):
        return False
    found = find_at_colon(state.src, state.pos, 0)
    if found is None:
        return False
    scheme = state.src[found.start : state.pos]
    if not state.pending.endswith(scheme):
        return False
    if not silent:
        state.pending = state.pending.removesuffix(scheme)
    return _found(state, Link(found.url), found.end, silent)


def _emoji(state: StateInline, silent: bool) -> bool:
    found = _EMOJI.match(state.src, state.pos)
    if found is None or _is_in_word(state):
        return False
    name = state.env["names"].emoji(found[1])
    return name is not None and _found(state, Emoji(name), found.end(), silent)


def _sized_picture(state: StateInline, silent: bool) -> bool:
    found = _SIZED_PICTURE.match(state.src, state.pos)
    return found is not None and _found(state, Link(found[2], found[1]), found.end(), silent)
