"""The one writer of our Markdown: a tree becomes texts that are short enough for a message each (pure).

Every line stands for itself, since styles and code end with their line: so a text that is too long is taken apart between blocks,
then between lines, and only then within one, at a space.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC
from typing import NamedTuple

from tertulia.archives.converting.escaping import escape_command, escape_label, escape_line_start, escape_words
from tertulia.archives.converting.tree import (
    Block,
    ChannelLink,
    CodeBlock,
    Divider,
    Emoji,
    Everyone,
    GroupMention,
    Heading,
    Inline,
    Item,
    Items,
    Link,
    Mention,
    MessageLink,
    Moment,
    Paragraph,
    Quote,
    Spoiler,
    Text,
)
from tertulia.content.markup import writing
from tertulia.content.markup.addresses import clean_url, find_at_colon

LIMIT = 9000
"""Of a text, in characters: a message may have 10,000. The rest is for what is added later: addresses of messages, a line about
the thread, files."""
LEAST = 1000
"""Of what is quoted in a quotation, however deep: of a third of a third of a third hardly a word would be left. Five levels of
lines of one character become six times as long, which is still a text."""
MOST_DEPTH = 6
_CHUNK = 1000
_LABEL = 100
_NOTHING_SEEN = "\u200b"
"""Stands between two marks that would become one."""
_BEFORE_REFERENCE = frozenset(" \t\n'\"({/<")
_BESIDE = Emoji("tada")
_AWKWARD = re.compile(r"[\s\x00-\x20\x7f-\x9f\u2028\u2029\\<>\"()\[\]`]")
_NO_LANGUAGES = frozenset(("quote", "quoted", "spoiler", "math", "latex", "tex"))
"""Fences that are no code here."""
_BACKTICKS = re.compile(r"`+")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


class _Piece(NamedTuple):
    """Of a line: words that are still to be escaped, or markup."""

    text: str
    is_words: bool
    refers: bool = False
    """What stands before it decides what it is."""
    beside: str = ""
    """How it is written instead where it stands directly beside something."""


def write(blocks: Sequence[Block]) -> list[str]:
    """The texts of the messages that this becomes: one, if it is not too long; none, if nothing is in it.

    Whatever is in it, none is longer than it may be: one message would keep the whole archive from being read.
    """
    return [text[:LIMIT] for text in _written(blocks, LIMIT)]


def _written(blocks: Sequence[Block], limit: int) -> list[str]:
    texts: list[str] = []
    current, before = "", None
    for block in blocks:
        for piece in _pieces(block, limit):
            joined = current + _between(before, block) + piece if current else piece
            if current and len(joined) > limit:
                texts.append(current)
                joined = piece
            current, before = joined, block
    if current:
        texts.append(current)
    return [escape_command(text) for text in texts]


def write_words(inlines: Iterable[Inline]) -> str:
    """Only the words, in one line: for names of topics, and for what is quoted of a message."""
    return " ".join(clean("".join(_words(one) for one in inlines)).split())


def words_of(blocks: Iterable[Block]) -> str:
    """The words of a text, in one line."""
    found = []
    for block in blocks:
        if isinstance(block, Spoiler):
            continue
        if isinstance(block, Quote):
            found.append(words_of(block.blocks))
        elif isinstance(block, CodeBlock):
            found.append(" ".join(clean(block.text).split()))
        elif isinstance(block, Items):
            found += [write_words(item.inlines) for item in block.items]
        elif not isinstance(block, Divider):
            found.append(write_words(block.inlines))
    return " ".join(one for one in found if one)


def clean(text: str) -> str:
    """Without what no text may have: controls, halves of characters. A tab and a newline stay."""
    return _CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def _words(one: Inline) -> str:
    if isinstance(one, Text):
        return one.text
    if isinstance(one, (Link, MessageLink)):
        return one.label or one.url
    if isinstance(one, ChannelLink):
        return f"#{one.name}"
    return ""


def _between(before: Block | None, block: Block) -> str:
    """A quote and a list go on with the next line, unless a blank one ends them."""
    if isinstance(before, (CodeBlock, Spoiler)):
        return "\n"
    if isinstance(before, Items) and isinstance(block, Items):
        return "\n"
    if isinstance(before, Paragraph) and isinstance(block, (CodeBlock, Items, Quote, Spoiler)):
        return "\n"
    return "\n\n"


# Blocks


def _pieces(block: Block, limit: int) -> Iterator[str]:
    """A block as one text, or as several of at most so many characters that each stand for themselves."""
    if isinstance(block, Paragraph):
        yield from _packed(_paragraph_lines(block.inlines, limit), limit)
    elif isinstance(block, Heading):
        for place, line in enumerate(_paragraph_lines(block.inlines, limit)):
            if line:
                yield line if place else f"# {line}"
    elif isinstance(block, CodeBlock):
        yield from _code(block, limit)
    elif isinstance(block, Items):
        yield from _packed(_items(block.items, limit), limit)
    elif isinstance(block, Divider):
        yield "---"
    elif isinstance(block, Spoiler):
        for text in _written(block.blocks, max(limit // 3, LEAST)):
            fence = _fence_around(text.split("\n"))
            yield f"{fence}spoiler\n{text}\n{fence}"
    else:
        for text in _written(block.blocks, max(limit // 3, LEAST)):
            yield "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _packed(lines: Iterable[str], limit: int) -> Iterator[str]:
    found: list[str] = []
    size = 0
    for line in lines:
        if found and size + len(line) + 1 > limit:
            yield "\n".join(found).strip("\n")
            found, size = [], 0
        found.append(line)
        size += len(line) + 1
    if text := "\n".join(found).strip("\n"):
        yield text


def _paragraph_lines(inlines: Sequence[Inline], limit: int) -> Iterator[str]:
    for line in _lines(inlines):
        yield from _fitted(line, limit)


def _items(items: Sequence[Item], limit: int) -> Iterator[str]:
    depth = -1
    for item in items:
        depth = max(0, min(item.depth, depth + 1, MOST_DEPTH))
        marker = "-" if item.number is None else f"{item.number % 10**9}."
        for place, line in enumerate(filter(None, _paragraph_lines(item.inlines, limit - 40))):
            yield "  " * depth + (f"{marker} " if not place else "  ") + line


def _code(block: CodeBlock, limit: int) -> Iterator[str]:
    lines = [part for line in clean(block.text).strip("\n").split("\n") for part in _cut(line, limit - 100)]
    if not any(line.strip() for line in lines):
        return
    fence = _fence_around(lines)
    is_one = len(block.language) <= 30 and block.language.lower().strip(".") not in _NO_LANGUAGES
    language = block.language if is_one else ""
    if block.is_formula:
        language = "math"
    for text in _packed_code(lines, limit - 2 * len(fence) - 40):
        yield f"{fence}{language}\n{text}\n{fence}"


def _fence_around(lines: Iterable[str]) -> str:
    """One that none of these lines ends: only a line that is the same does."""
    stripped = {line.strip() for line in lines}
    fence = "```"
    while fence in stripped:
        fence += "`"
    return fence


def _packed_code(lines: list[str], limit: int) -> Iterator[str]:
    start = size = 0
    for place, line in enumerate(lines):
        if place > start and size + len(line) + 1 > limit:
            yield "\n".join(lines[start:place])
            start, size = place, 0
        size += len(line) + 1
    yield "\n".join(lines[start:])


def _cut(line: str, limit: int) -> Iterator[str]:
    for start in range(0, max(len(line), 1), limit):
        yield line[start : start + limit]


# Lines


def _lines(inlines: Iterable[Inline]) -> Iterator[list[Inline]]:
    """Running text line by line; neighbours of one style are one."""
    line: list[Inline] = []
    for one in inlines:
        if not isinstance(one, Text):
            line.append(one)
            continue
        first, *rest = clean(one.text).split("\n")
        _append(line, one, first)
        for text in rest:
            yield line
            line = []
            _append(line, one, text)
    yield line


def _append(line: list[Inline], like: Text, text: str) -> None:
    if not text:
        return
    made = Text(text, like.bold, like.italic, like.strike, like.code)
    if line and isinstance(last := line[-1], Text) and _style(last) == _style(made):
        line[-1] = Text(last.text + text, *_style(made))
        return
    line.append(made)


def _style(text: Text) -> tuple[bool, bool, bool, bool]:
    return text.bold, text.italic, text.strike, text.code


def _fitted(line: list[Inline], limit: int) -> Iterator[str]:
    """The line, or as many as it takes."""
    text = _line(line)
    if len(text) <= limit:
        yield text
        return
    found: list[Inline] = []
    size = 0
    for one in _chunks(_as_words(line, limit)):
        most = len(_line([_BESIDE, one, _BESIDE]))  # whatever stands beside it
        if found and size + most > limit:
            yield _line(found)
            found, size = [], 0
        found.append(one)
        size += most
    yield _line(found)


def _as_words(line: list[Inline], limit: int) -> Iterator[Inline]:
    """What cannot be taken apart and is too long by itself, as an address can be, becomes words; of a link with a long label a
    part of the label is left out."""
    for one in line:
        if isinstance(one, Text) or len(_line([one])) <= limit:
            yield one
        elif isinstance(one, Link) and len(_line([short := Link(one.url, one.label[:_LABEL])])) <= limit:
            yield short
        else:
            yield Text(clean(_words(one)).replace("\n", " "))


def _chunks(line: Iterable[Inline]) -> Iterator[Inline]:
    for one in line:
        if not isinstance(one, Text):
            yield one
            continue
        start = 0
        while len(one.text) - start > _CHUNK:
            end = one.text.rfind(" ", start + 1, start + _CHUNK) + 1 or start + _CHUNK
            yield Text(one.text[start:end], *_style(one))
            start = end
        yield Text(one.text[start:], *_style(one))


def _line(inlines: Iterable[Inline]) -> str:
    """One line. What stands beside words decides how they are escaped, so all is joined at the end."""
    pieces = _merged(piece for one in inlines for piece in _inline(one) if piece.text)
    out = ""
    for place, piece in enumerate(pieces):
        after = pieces[place + 1].text[:1] if place + 1 < len(pieces) else ""
        text = piece.text
        if piece.is_words:
            text = escape_words(text, glued_before=place > 0, after=after)
        elif piece.beside and ((out and out[-1] not in _BEFORE_REFERENCE) or after.strip()):
            text = piece.beside
        elif piece.refers and out and out[-1] not in _BEFORE_REFERENCE:
            out += " "
        if out and out[-1] == text[0] and text[0] in "*~`":
            out += _NOTHING_SEEN
        out += text
    first = next((piece for piece in pieces if piece.text.strip()), None)
    return escape_line_start(out.strip()) if first and first.is_words else out.strip()


def _merged(pieces: Iterable[_Piece]) -> list[_Piece]:
    found: list[_Piece] = []
    for piece in pieces:
        if piece.is_words and found and found[-1].is_words:
            piece = _Piece(found.pop().text + piece.text, True)
        found.append(piece)
    return found


def _inline(one: Inline) -> Iterator[_Piece]:
    if isinstance(one, Text):
        yield from _text(one)
    elif isinstance(one, Mention):
        yield _Piece(f"@{'_' if one.silent else ''}**|{one.person_id}**", False, True)
    elif isinstance(one, GroupMention):
        yield _Piece(f"@*{one.name}*", False, True)
    elif isinstance(one, Everyone):
        yield _Piece("@**all**", False, True)
    elif isinstance(one, Emoji):
        yield _Piece(f":{one.name}:", False)
    elif isinstance(one, Moment):
        yield _Piece(f"<time:{one.at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}>", False)
    elif isinstance(one, ChannelLink):
        yield _channel(one)
    elif isinstance(one, Link):
        yield from _link(one)
    else:
        label = escape_label(" ".join(clean(one.label).split()) or "message")
        yield _Piece(f"[{label}]({place_of(one)})", False)


def _text(one: Text) -> Iterator[_Piece]:
    """Blanks stand outside of the marks: inside they would undo them."""
    text = one.text
    if one.code:
        yield _Piece(_code_span(text), False)
        return
    opening, closing = _marks(one)
    core = text.strip()
    if not opening or not core:
        yield _Piece(text, True)
        return
    start = text.index(core)
    yield _Piece(text[:start], True)
    words = escape_words(core, glued_before=True, after=opening[0])
    if one.strike:
        words = words.replace("~", "&#126;")
    yield _Piece(f"{opening}{words}{closing}", False)
    yield _Piece(text[start + len(core) :], True)


def _marks(one: Text | Link) -> tuple[str, str]:
    """Before and after what has these styles."""
    mark = ("**" if one.bold else "") + ("*" if one.italic else "")
    strike = "~~" if one.strike else ""
    return strike + mark, mark + strike


def _code_span(text: str) -> str:
    if not text.strip():
        return text
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    marks = "`" * (longest + 1)
    before = " " if text.startswith("`") else ""
    after = " " if text.endswith("`") else ""
    return f"{marks}{before}{text}{after}{marks}"


def _channel(one: ChannelLink) -> _Piece:
    written = writing.write((writing.ChannelLink(one.channel_id, one.name),))
    return _Piece(written, False, refers=written.startswith("#"))


def _link(one: Link) -> Iterator[_Piece]:
    url, label = clean(one.url).strip(), " ".join(clean(one.label).split())
    safe = _AWKWARD.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), url)
    if len(safe) > _CHUNK * 4 or not safe or clean_url(safe) is None:
        yield _Piece(f"{label} ({url})" if label and label != url else url, True)
        return
    named = f"[{escape_label(label or url)}]({safe})"
    opening, closing = _marks(one)
    if opening:
        yield _Piece(f"{opening}{named}{closing}", False)
        return
    is_bare = (not label or label == url) and safe == url and _is_found(url)
    yield _Piece(url if is_bare else named, False, beside=named)


def _is_found(url: str) -> bool:
    """Whether the address, written as it is, is found as a link in running text, all of it."""
    colon = url.find(":")
    found = find_at_colon(url, colon, 0) if colon > 0 else None
    return found is not None and found.end == len(url)


# Places that are known later

_PLACE = re.compile("\x00([0-9]+)/([0-9]+)/([^\x00]*)\x00")


def place_of(link: MessageLink) -> str:
    """Stands for the address of a message until it is known. No text has a NUL."""
    return f"\x00{link.conversation_id}/{link.time}/{_AWKWARD.sub('', link.url)}\x00"


def places_in(text: str) -> "Iterator[re.Match[str]]":
    """Each with the conversation, the time, and the address that it had."""
    return _PLACE.finditer(text) if "\x00" in text else iter(())
