"""A text as a tree, whatever it was written in: blocks, and in them running text (pure).

Styles are flags of a piece of text, not nodes around it: sources nest them in every way, and ours end with the line.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Text:
    """Words, exactly as they are to be read. May have newlines."""

    text: str
    bold: bool = False
    italic: bool = False
    strike: bool = False
    code: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """An address; `label` is empty if it is shown itself."""

    url: str
    label: str = ""
    bold: bool = False
    italic: bool = False
    strike: bool = False


@dataclass(frozen=True, slots=True)
class Mention:
    """Of a person, by their id in the archive. `silent`: they are only named."""

    person_id: int
    silent: bool = False


@dataclass(frozen=True, slots=True)
class GroupMention:
    """Of a group, by its name in the archive."""

    name: str


@dataclass(frozen=True, slots=True)
class Everyone:
    """All who are in the conversation."""


@dataclass(frozen=True, slots=True)
class ChannelLink:
    """To a channel, by its id and name in the archive."""

    channel_id: int
    name: str


@dataclass(frozen=True, slots=True)
class MessageLink:
    """To a message that is known by where and when it was sent; `url` if it turns out not to be there."""

    conversation_id: int
    time: int
    url: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Emoji:
    """By a name of ours."""

    name: str


@dataclass(frozen=True, slots=True)
class Moment:
    """A time, shown to each reader in their zone."""

    at: datetime


Inline = Text | Link | Mention | GroupMention | Everyone | ChannelLink | MessageLink | Emoji | Moment


def in_style(one: Inline, style: Text) -> Inline:
    """What can have styles, in these; the rest as it is."""
    if isinstance(one, Text):
        return replace(style, text=one.text, code=one.code)
    if isinstance(one, Link):
        return replace(one, bold=style.bold, italic=style.italic, strike=style.strike)
    return one


@dataclass(frozen=True, slots=True)
class Paragraph:
    inlines: list[Inline]


@dataclass(frozen=True, slots=True)
class Heading:
    inlines: list[Inline]


@dataclass(frozen=True, slots=True)
class CodeBlock:
    text: str
    language: str = ""
    is_formula: bool = False
    """It is shown as mathematics, not as code."""


@dataclass(frozen=True, slots=True)
class Item:
    """Of a list. `number`: none for a bullet."""

    inlines: list[Inline]
    depth: int = 0
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Items:
    items: list[Item]


@dataclass(frozen=True, slots=True)
class Divider:
    """A line across."""


@dataclass(frozen=True, slots=True)
class Quote:
    blocks: "list[Block]" = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Spoiler:
    """Shown only to who asks for it."""

    blocks: "list[Block]" = field(default_factory=list)


Block = Paragraph | Heading | CodeBlock | Items | Divider | Quote | Spoiler
