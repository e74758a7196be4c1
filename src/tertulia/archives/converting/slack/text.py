"""The markup of Slack's `text` as a tree (pure).

Only `&`, `<` and `>` are escaped in it, and what stands between `<` and `>` is a link, a mention or a date. Styles are
recognized at the edges of words and within a line. Each character is looked at a bounded number of times.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Protocol

from tertulia.archives.converting.emoji import name_of
from tertulia.archives.converting.tree import (
    Block,
    ChannelLink,
    CodeBlock,
    Emoji,
    Everyone,
    Inline,
    Link,
    Mention,
    MessageLink,
    Moment,
    Paragraph,
    Quote,
    Text,
    in_style,
)

_MARKUP = re.compile(r"[*_~`<:&\n]")
_CODE_BLOCK = re.compile(r"```(?!`)(.+?)```", re.DOTALL)
_ENTITY = re.compile(r"&(amp|lt|gt);")
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">"}
_TOKEN = re.compile(
    r"`(?P<code>[^`\n]+)`"
    r"|<(?P<angle>[^<>\n]+)>"
    r"|:(?P<emoji>[\w+'-]+):(?::skin-tone-[2-6]:)?"
    r"|(?P<mark>[*_~])"
)
_PERMALINK = re.compile(r"https://[\w.-]+/archives/(?P<channel>[A-Z0-9]+)/p(?P<time>\d{16})(?=[?#]|\Z)")
_DATE = re.compile(r"date\^(\d{1,11})\^")
_STYLES = {"*": "bold", "_": "italic", "~": "strike"}
_BROADCASTS = ("here", "channel", "everyone", "group")


class Names(Protocol):
    """What ids of Slack stand for here."""

    def person(self, slack_id: str, label: str = "") -> int:
        """Somebody's id in the archive; who is not known becomes known by this."""

    def channel(self, slack_id: str, label: str) -> "tuple[int, str] | None":
        """Id and name of a channel that may be named here."""

    def conversation(self, slack_id: str) -> int | None:
        """Of a channel or of people who talk directly."""

    def count(self, what: str, example: str = "") -> None:
        """Something that does not come as it was."""


def parse(text: str, names: Names) -> list[Block]:
    """The blocks of a text."""
    if not _MARKUP.search(text):
        return [Paragraph([Text(text)])] if text.strip() else []
    blocks: list[Block] = []
    place = 0
    for code in _CODE_BLOCK.finditer(text):
        blocks += _lines(text[place : code.start()].removesuffix("\n"), names)
        blocks.append(CodeBlock(decoded(_plain_links(code[1]))))
        place = code.end()
        if text.startswith("\n", place):
            place += 1
    return blocks + _lines(text[place:], names)


def parse_inline(text: str, names: Names) -> list[Inline]:
    """Running text, where there are no blocks."""
    found: list[Inline] = []
    for place, line in enumerate(text.split("\n")):
        if place:
            found.append(Text("\n"))
        found += _Line(line, names).parse()
    return found


def decoded(text: str) -> str:
    """Its three entities, once."""
    return _ENTITY.sub(lambda found: _ENTITIES[found[1]], text) if "&" in text else text


def link(url: str, label: str, names: Names) -> Inline:
    """A link; one to a message of the export becomes one to the message here."""
    found = _PERMALINK.match(url)
    conversation = None if found is None else names.conversation(found["channel"])
    if found is not None and conversation is not None:
        return MessageLink(conversation, int(found["time"]), url, label)
    for scheme in ("mailto:", "tel:"):
        if url.startswith(scheme) and label in ("", url.removeprefix(scheme)):
            return Text(url.removeprefix(scheme))
    return Link(url, label)


def emoji(name: str, names: Names) -> Inline:
    """An emoji of ours, or the name of one that is not in the export."""
    ours = name_of(name)
    if ours is not None:
        return Emoji(ours)
    names.count("custom emoji in texts: their names stay as text", f":{name}:")
    return Text(f":{name}:")


def moment(seconds: str, fallback: str) -> Inline:
    """A time, if it can be one."""
    try:
        return Moment(datetime.fromtimestamp(int(seconds), UTC))
    except (ValueError, OverflowError, OSError):
        return Text(fallback)


def _plain_links(code: str) -> str:
    """In code an address is shown as it is."""
    return re.sub(r"<(https?://[^<>|\n]+)(?:\|([^<>\n]*))?>", lambda found: found[2] or found[1], code)


def _lines(text: str, names: Names) -> list[Block]:
    """Paragraphs and quotes. Three signs quote all that follows."""
    blocks: list[Block] = []
    kept: list[str] = []
    is_quote = False

    def end() -> None:
        if any(line.strip() for line in kept):
            paragraph = Paragraph(parse_inline("\n".join(kept), names))
            blocks.append(Quote([paragraph]) if is_quote else paragraph)
        kept.clear()

    lines = text.split("\n")
    for place, line in enumerate(lines):
        if line.startswith("&gt;&gt;&gt;"):
            end()
            kept += [line.removeprefix("&gt;&gt;&gt;").lstrip(), *lines[place + 1 :]]
            is_quote = True
            break
        quoted = line.startswith("&gt;")
        if quoted != is_quote:
            end()
            is_quote = quoted
        kept.append(line.removeprefix("&gt;").removeprefix(" ") if quoted else line)
    end()
    return blocks


class _Line:
    """One line: first what stands for itself, then styles around it."""

    def __init__(self, line: str, names: Names) -> None:
        self._names = names
        self._tokens = list(self._read(line))
        self._hopeless: set[tuple[str, int]] = set()
        """Marks for which there is no end before a place. By both: what is inside of others has other ends."""

    def parse(self) -> list[Inline]:
        return self._styled(0, len(self._tokens), Text(""))

    def _read(self, line: str) -> Iterator[str | Inline]:
        """Words, marks of a style (each alone), and nodes."""
        place = 0
        for found in _TOKEN.finditer(line):
            if found.start() > place:
                yield decoded(line[place : found.start()])
            place = found.end()
            yield self._token(found, line)
        if place < len(line):
            yield decoded(line[place:])

    def _token(self, found: "re.Match[str]", line: str) -> str | Inline:
        if found["code"] is not None:
            return Text(decoded(_plain_links(found["code"])), code=True)
        if found["angle"] is not None:
            return self._angle(found["angle"])
        if found["emoji"] is not None:
            is_word = found.start() > 0 and line[found.start() - 1].isalnum()
            return decoded(found[0]) if is_word or found["emoji"].isdigit() else emoji(found["emoji"], self._names)
        return found[0]

    def _angle(self, inside: str) -> Inline:
        first, _, label = inside.partition("|")
        label = decoded(label)
        if first.startswith("@"):
            return Mention(self._names.person(first[1:], label))
        if first.startswith("#"):
            return channel(first[1:], label, self._names)
        if first.startswith("!"):
            return self._special(first[1:], label)
        return link(decoded(first), label, self._names)

    def _special(self, name: str, label: str) -> Inline:
        if name.partition("^")[0] in _BROADCASTS:
            return Everyone()
        if found := _DATE.match(name):
            return moment(found[1], label)
        if name.startswith("subteam^"):
            self._names.count("mentions of user groups, which are not in the export: they are text", label or name)
        return Text(label or name)

    def _styled(self, start: int, end: int, style: Text) -> list[Inline]:
        found: list[Inline] = []
        place = start
        while place < end:
            token = self._tokens[place]
            if not isinstance(token, str):
                found.append(in_style(token, style))
            elif token in _STYLES and (close := self._close(place, end, style)) is not None:
                found += self._styled(place + 1, close, _with(style, token))
                place = close
            else:
                found.append(replace(style, text=token))
            place += 1
        return found

    def _close(self, opening: int, end: int, style: Text) -> int | None:
        """Where the style that begins here ends. A mark for which there was no end has none further on, either."""
        mark = self._tokens[opening]
        assert isinstance(mark, str)
        if getattr(style, _STYLES[mark]) or (mark, end) in self._hopeless:
            return None
        before, after = self._edge(opening - 1, -1), self._edge(opening + 1, 0)
        if before.isalnum() or before == mark or after.isspace() or after == mark:
            return None
        for place in range(opening + 2, end):
            if self._tokens[place] != mark or self._edge(place - 1, -1).isspace():
                continue
            if self._tokens[place - 1] != mark and not self._is_word_or(mark, place + 1):
                return place
        self._hopeless.add((mark, end))
        return None

    def _is_word_or(self, mark: str, place: int) -> bool:
        return self._edge(place, 0).isalnum() or self._edge(place, 0) == mark

    def _edge(self, place: int, at: int) -> str:
        """The character of a neighbour that is next to us: its last or its first. A node is no word and no blank."""
        if not 0 <= place < len(self._tokens):
            return " "
        token = self._tokens[place]
        return token[at] if isinstance(token, str) else "."


def _with(style: Text, mark: str) -> Text:
    return replace(
        style, bold=style.bold or mark == "*", italic=style.italic or mark == "_", strike=style.strike or mark == "~"
    )


def channel(slack_id: str, label: str, names: Names) -> Inline:
    """A link to a channel, or what it was called."""
    found = names.channel(slack_id, label)
    return Text(f"#{label}" if label else "#private-channel") if found is None else ChannelLink(*found)
