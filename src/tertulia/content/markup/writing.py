"""What the server itself says: texts made from parts, and the markup they become (pure).

A text is a tuple of parts. A plain string in it is shown letter by letter, whatever it holds: our own words and the names of
people, channels, groups and topics alike. What shall be more than letters is a part of its own: a mention, a link, something
bold, a quotation. So no name can mention, link or format anything in what the notification bot says.

Parts are kept as they are until the text is sent, because only then it is known who reads it: a person whom that reader does
not see is written as an unknown one. `wanted.py` and `references.py` read the same forms in what anybody writes.
"""

import re
from collections.abc import Iterator, Mapping

import msgspec

from tertulia.content.markup.references import encode_operand, slug


class Mention(msgspec.Struct, frozen=True, tag=True):
    """A person; nobody is notified."""

    user_id: int
    name: str


class GroupMention(msgspec.Struct, frozen=True, tag=True):
    """A group; none of its members is notified."""

    name: str


class ChannelLink(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """A link to a channel, to a topic in it, or to a message there."""

    channel_id: int
    name: str
    topic: str | None = None
    message_id: int | None = None


class Bold(msgspec.Struct, frozen=True, tag=True):
    """Letters, in bold."""

    text: str


Inline = str | Mention | GroupMention | ChannelLink | Bold


class Bullet(msgspec.Struct, frozen=True, tag=True):
    """A line of a list."""

    line: tuple[Inline, ...]


class Aside(msgspec.Struct, frozen=True, tag=True):
    """Letters set apart from the rest, each line as it is: a reason, for example."""

    text: str


class Quotation(msgspec.Struct, frozen=True, tag=True):
    """What somebody wrote, with its markup. Its mentions notify nobody, and nothing in it ends the quotation."""

    content: str


class Written(msgspec.Struct, frozen=True, tag=True):
    """Markup that the organization wrote for the bot to say, as it is."""

    content: str


Part = Inline | Bullet | Aside | Quotation | Written
Text = tuple[Part, ...]

_NAME = re.compile(r"\{(\w+)\}")


def worded(template: str, **parts: Part | Text) -> Text:
    """A text of words with `{names}` in them, and the parts that stand there."""
    text: list[Part] = []
    for at, piece in enumerate(_NAME.split(template)):
        if at % 2 == 0:
            text += [piece] if piece else []
        else:
            part = parts[piece]
            text += part if isinstance(part, tuple) else [part]
    return tuple(text)


NOBODY_HIDDEN: Mapping[int, str] = {}

_ENTITIES = {
    "`": "&grave;",
    "*": "&ast;",
    "~": "&#126;",
    "@": "&commat;",
    "$": "&dollar;",
    "#": "&num;",
    "|": "&vert;",
    "<": "&lt;",
    ">": "&gt;",
    "[": "&lbrack;",
    "]": "&rbrack;",
    "&": "&amp;",
}
_SPECIAL = re.compile(r"[`*~@$#|<>\[\]&]|:(?=\S)|(?<=\():|\.(?=[^\W\d_])|\s+")
_FENCE = re.compile(r"[ \t]*(~{3,})\s*")


def write(text: Text, *, hidden: Mapping[int, str] = NOBODY_HIDDEN) -> str:
    """A text as markup, for a reader who does not see the hidden people: each with what is written instead."""
    written = ""
    for part in text:
        match part:
            case Bullet():
                written = _on_new_line(written) + "* " + _line(part.line, hidden)
            case Aside():
                lines = [f"> {_at_start(literal(line))}" for line in part.text.splitlines() if line.strip()]
                written = _apart(written) + "\n".join(lines) + "\n\n"
            case Quotation():
                written = _apart(written) + quotation(part.content) + "\n\n"
            case Written():
                written = _apart(written) + part.content + "\n\n"
            case _:
                piece = _inline(part, hidden)
                is_start = not written or written.endswith("\n")
                written += _at_start(piece.lstrip()) if is_start and isinstance(part, str) else piece
    return written.rstrip("\n")


def people_in(text: Text) -> frozenset[int]:
    """Whom the text itself mentions, apart from what it quotes."""
    return frozenset(part.user_id for part in _inlines(text) if isinstance(part, Mention))


def quotes_anything(text: Text) -> bool:
    """Whether there is something in it that was not written by this server."""
    return any(isinstance(part, Quotation | Written) for part in text)


def literal(text: str) -> str:
    """Letters as markup that shows exactly them, on one line, and is nothing else."""
    return _SPECIAL.sub(_entity, text)


def quotation(content: str) -> str:
    """What somebody wrote as a quotation that nothing in it can end."""
    content = content.replace("\r\n", "\n").replace("\r", "\n")
    taken = {len(found[1]) for line in content.split("\n") if (found := _FENCE.fullmatch(line))}
    fence = "~" * next(length for length in range(3, len(content) + 4) if length not in taken)
    return f"{fence}quote\n{content}\n{fence}"


def silent_mention(name: str, user_id: int) -> str:
    """A person, by name and id; nobody is notified. A name that is more than letters is left to the id."""
    return f"@_**{name if _is_inert(name) else ''}|{user_id}**"


def _is_inert(name: str) -> bool:
    """Whether a name is nothing but letters to whoever reads markup, even where what is around it turns out to be none."""
    return literal(name) == name


def _entity(match: re.Match[str]) -> str:
    found = match.group()
    return " " if found.isspace() else _ENTITIES.get(found) or f"&#{ord(found)};"


def _line(parts: tuple[Inline, ...], hidden: Mapping[int, str]) -> str:
    written = "".join(_inline(part, hidden) for part in parts)
    return _at_start(written) if parts and isinstance(parts[0], str) else written


def _inline(part: Inline, hidden: Mapping[int, str]) -> str:
    match part:
        case str():
            return literal(part)
        case Mention():
            return literal(hidden[part.user_id]) if part.user_id in hidden else silent_mention(part.name, part.user_id)
        case GroupMention():
            return f"@_*{part.name}*" if _is_inert(part.name) else f"**{literal(part.name)}**"
        case ChannelLink():
            return _channel_link(part)
        case Bold():
            return f"**{literal(part.text).strip()}**"


def _channel_link(link: ChannelLink) -> str:
    """The short form, by names; or one with the address, if a name would break that."""
    if _is_inert(link.name) and _is_inert(link.topic or ""):
        place = "" if link.topic is None else f">{link.topic}"
        return f"#**{link.name}{place}{'' if link.message_id is None else f'@{link.message_id}'}**"
    place = "" if link.topic is None else f"/topic/{encode_operand(link.topic)}"
    near = "" if link.message_id is None else f"/near/{link.message_id}"
    shown = f"#{link.name}" if link.topic is None else f"#{link.name} > {link.topic}"
    return f"[{literal(shown)}](/#narrow/channel/{slug(link.channel_id, link.name)}{place}{near})"


def _at_start(written: str) -> str:
    """What begins a line begins no list, rule or command."""
    first = written[:1]
    return written if not first or first.isalpha() or first in "&@" else f"&#{ord(first)};{written[1:]}"


def _on_new_line(written: str) -> str:
    return written if not written or written.endswith("\n") else written + "\n"


def _apart(written: str) -> str:
    return written.rstrip("\n") + "\n\n" if written else ""


def _inlines(text: Text) -> Iterator[Part]:
    for part in text:
        if isinstance(part, Bullet):
            yield from part.line
        else:
            yield part
