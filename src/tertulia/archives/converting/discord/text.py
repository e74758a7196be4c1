"""The markup of Discord as a tree (pure): mentions are ids between angles, unless the exporter has replaced them by names."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Protocol

from tertulia.archives.converting import dialects
from tertulia.archives.converting.dialects import CODE, ESCAPED, LABELLED, URL, Dialect, marks_of
from tertulia.archives.converting.tree import (
    Block,
    ChannelLink,
    Emoji,
    Everyone,
    GroupMention,
    Inline,
    Link,
    Mention,
    MessageLink,
    Moment,
    Text,
)

MARKS: dict[str, tuple[str, ...]] = {
    "***": ("bold", "italic"),
    "**": ("bold",),
    "*": ("italic",),
    "__": (),  # underlined: there is nothing like it
    "_": ("italic",),
    "~~": ("strike",),
    "||": ("spoiler",),
}
_TOKENS = re.compile(
    rf"{ESCAPED}|{CODE}|{LABELLED}|<(?P<angled>https?://[^\s<>]{{1,2000}})>|(?P<bare>{URL})"
    r"|<@!?(?P<person>\d{1,20})>|<@&(?P<role>\d{1,20})>|<#(?P<channel>\d{1,20})>"
    r"|<a?:(?P<emoji>\w{1,100}):(?P<emoji_id>\d{1,20})>"
    r"|<t:(?P<seconds>-?\d{1,12})(?::[A-Za-z])?>|</(?P<command>[^<>:\n]{1,100}):\d{1,20}>"
    r"|(?<![^\W_])@(?P<everyone>everyone|here)\b"
    f"|{marks_of(MARKS)}"
)
_MESSAGE = re.compile(r"https://(?:\w+\.)?discord(?:app)?\.com/channels/[\w@]+/\d{1,20}/(?P<id>\d{1,20})(?=[?#/]|\Z)")
_SMALL = re.compile(r"^-# ", re.MULTILINE)
_VERBATIM = re.compile(r"(```.*?```|`[^`\n]+`)", re.DOTALL)


class Names(Protocol):
    """What a message refers to."""

    def person(self, key: str) -> int:
        """Somebody's id here."""

    def group(self, key: str) -> str | None:
        """The name of a role's group here."""

    def channel(self, key: str) -> "tuple[int, str] | str":
        """Id and name of a channel that may be named here, or what to say instead."""

    def message(self, key: str) -> "tuple[int, int] | None":
        """Conversation and time of a message."""

    def custom_emoji(self, key: str) -> str | None:
        """Our name of an emoji of their own."""


def parse(text: str, names: Names) -> list[Block]:
    """The blocks of a text."""
    return dialects.parse(_SMALL.sub("", text), _dialect(names))


def parse_inline(text: str, names: Names) -> list[Inline]:
    """Running text."""
    return dialects.parse_inline(text, _dialect(names))


def unflattened(text: str, replaced: Mapping[str, str]) -> str:
    """A text as it was before the exporter wrote names for mentions and emoji: `replaced` has what stood there, by name.

    Code is left alone: nothing was replaced in it.
    """
    parts = _VERBATIM.split(text)
    for name in sorted(replaced, key=len, reverse=True):
        pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        parts[::2] = [pattern.sub(lambda _, name=name: replaced[name], part) for part in parts[::2]]
    return "".join(parts)


def link(url: str, label: str, names: Names) -> Inline:
    """A link; one to a message of the export becomes one to the message here."""
    found = _MESSAGE.match(url)
    place = names.message(found["id"]) if found else None
    return Link(url, label.strip()) if place is None else MessageLink(*place, url, label.strip())


def _dialect(names: Names) -> Dialect:
    def read(found: "re.Match[str]") -> Inline | str:
        if found["escaped"] is not None:
            return Text(found["escaped"])
        if found["code"] is not None:
            return Text(found["code"], code=True)
        if (url := found["url"] or found["angled"] or found["bare"]) is not None:
            return link(url, found["label"] or "", names)
        if found.lastgroup in _REFERENCES:
            return _reference(found, names)
        return found[0]

    return Dialect(_TOKENS, MARKS, frozenset(("_",)), read, quote="> ", rest_quote=">>> ", spans_lines=True)


_REFERENCES = ("person", "role", "channel", "emoji_id", "seconds", "command", "everyone")


def _reference(found: "re.Match[str]", names: Names) -> Inline:
    kind = found.lastgroup
    if kind == "person":
        return Mention(names.person(found["person"]))
    if kind == "role":
        group = names.group(found["role"])
        return Text("@role") if group is None else GroupMention(group)
    if kind == "channel":
        channel = names.channel(found["channel"])
        return Text(channel) if isinstance(channel, str) else ChannelLink(*channel)
    if kind == "emoji_id":
        ours = names.custom_emoji(found["emoji_id"])
        return Text(f":{found['emoji']}:") if ours is None else Emoji(ours)
    if kind == "seconds":
        return _moment(found["seconds"], found[0])
    return Everyone() if kind == "everyone" else Text(f"/{found['command']}")


def _moment(seconds: str, shown: str) -> Inline:
    try:
        return Moment(datetime.fromtimestamp(int(seconds), UTC))
    except (ValueError, OverflowError, OSError):
        return Text(shown)
