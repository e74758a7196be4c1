"""The markup of Rocket.Chat as a tree (pure): one star or two are bold, and a handle is a mention only if the message says so."""

import re
from typing import Protocol

from tertulia.archives.converting import dialects
from tertulia.archives.converting.dialects import CODE, ESCAPED, LABELLED, URL, Dialect, marks_of
from tertulia.archives.converting.emoji import name_of
from tertulia.archives.converting.tree import (
    Block,
    ChannelLink,
    Emoji,
    Everyone,
    Inline,
    Link,
    Mention,
    MessageLink,
    Text,
)

MARKS = {
    "**": ("bold",),
    "*": ("bold",),
    "__": ("italic",),
    "_": ("italic",),
    "~~": ("strike",),
    "~": ("strike",),
}
_TOKENS = re.compile(
    f"{ESCAPED}|{CODE}|{LABELLED}|(?P<bare>{URL})"
    r"|(?<![^\W_])(?<![.@])@(?P<handle>\w[\w.-]{0,98}[^\W_]|[^\W_])"
    r"|(?<![^\W_])(?<![&#])#(?P<room>\w[\w.-]{0,98}[^\W_]|[^\W_])"
    r"|(?<!\w):(?P<emoji>[\w+'-]{1,100}):"
    f"|{marks_of(MARKS)}"
)
_MESSAGE = re.compile(r"[?&]msg=(?P<id>[\w-]{1,64})(?=[&#]|\Z)")


class Names(Protocol):
    """What a message refers to."""

    def mentioned(self, handle: str) -> "int | str | None":
        """Somebody's id; "all" for everybody; None if nobody was mentioned so."""

    def channel(self, name: str) -> "tuple[int, str] | None":
        """Id and name of a channel that the message links."""

    def message(self, id: str) -> "tuple[int, int] | None":
        """Conversation and time of a message."""

    def custom_emoji(self, name: str) -> str | None:
        """Our name of an emoji of their own."""


def parse(text: str, names: Names) -> list[Block]:
    """The blocks of a text."""
    return dialects.parse(text, _dialect(names))


def parse_inline(text: str, names: Names) -> list[Inline]:
    """Running text."""
    return dialects.parse_inline(text, _dialect(names))


def link(url: str, label: str, names: Names) -> Inline:
    """A link; one to a message of the dump becomes one to the message here."""
    found = _MESSAGE.search(url)
    place = names.message(found["id"]) if found else None
    return Link(url, label.strip()) if place is None else MessageLink(*place, url, label.strip())


def _dialect(names: Names) -> Dialect:
    def read(found: "re.Match[str]") -> Inline | str:
        if found["escaped"] is not None:
            return Text(found["escaped"])
        if found["code"] is not None:
            return Text(found["code"], code=True)
        if found["url"] is not None:
            return link(found["url"], found["label"], names)
        if found["bare"] is not None:
            return link(found["bare"], "", names)
        if found["emoji"] is not None:
            ours = name_of(found["emoji"]) or names.custom_emoji(found["emoji"])
            return Text(found[0]) if ours is None else Emoji(ours)
        if found["room"] is not None:
            channel = names.channel(found["room"])
            return Text(found[0]) if channel is None else ChannelLink(*channel)
        return _mention(found, names) if found["handle"] is not None else found[0]

    return Dialect(_TOKENS, MARKS, frozenset(MARKS), read)


def _mention(found: "re.Match[str]", names: Names) -> Inline:
    who = names.mentioned(found["handle"])
    if who is None:
        return Text(found[0])
    return Everyone() if isinstance(who, str) else Mention(who)
