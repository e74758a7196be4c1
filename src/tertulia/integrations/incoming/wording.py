"""Putting what outsiders wrote into messages.

`line` and `quote` take away what would mean something to our markup beyond the look: mentions, links with another text than
their address, links to channels, times, formulas. They put a character of no width behind the first one, so that what people
see stays as it was. A link's text is always ours, never an outsider's.

What outsiders wrote may be as long as a request, and is worked on while nobody else is answered. So only the beginning of
a text is ever looked at, and only those parts of a list that are told: `beginning` and `Room` are where that is cut.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from tertulia.kernel.text import without_bad_characters
from tertulia.organization.realms.limits import MAX_MESSAGE_LENGTH, MAX_TOPIC_LENGTH

MAX_QUOTE = 2000
MAX_LINE = 300
MAX_LISTED = 10
"""So many commits or alerts are told one by one."""
MAX_SPACE = 4
"""How many times as much as can be told of a text is looked at: it may have spaces and signs that are taken away."""

T = TypeVar("T")

NOTHING = "\u200b"
_MEANING = re.compile(r"@(?=_?\*)|#(?=\*\*)|\](?=\()|<(?=time)|\$(?=\$)|!(?=\[)")
_MENTION = re.compile(r"@(?=_?\*)")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_URL = re.compile(r"https?://[^\s<>()\[\]\"'`\\]+", re.IGNORECASE)
_FENCE = re.compile(r"~{3,}")


class Room:
    """So many characters of a payload, all its parts together, are worked on: what comes later is not there."""

    def __init__(self, characters: int) -> None:
        self._left = characters

    def take(self, value: Any) -> Any:
        """The beginning of a value of JSON. Each part of it takes at least the room of one character."""
        self._left -= 1
        if isinstance(value, str):
            found = value[: max(0, self._left)]
            self._left -= len(found)
            return found
        if isinstance(value, list):
            items = []
            for item in value:
                if self._left <= 0:
                    break
                items.append(self.take(item))
            return items
        if isinstance(value, dict):
            pairs = {}
            for key, item in value.items():
                if self._left <= 0:
                    break
                shown = self.take(key)
                pairs[shown] = self.take(item)
            return pairs
        return value


def beginning(text: str, limit: int) -> str:
    """As much of a text as is needed to tell `limit` characters of it."""
    return text.strip()[: limit * MAX_SPACE]


def plain(text: str) -> str:
    """Text that names nobody."""
    return _MEANING.sub(lambda found: found[0] + NOTHING, _UNPRINTABLE.sub("", text))


def name_nobody(text: str) -> str:
    """Markup that was put together, without mentions."""
    return _MENTION.sub(lambda found: found[0] + NOTHING, text)


def line(text: str, limit: int = MAX_LINE) -> str:
    """Text as a part of a line."""
    return plain(shorten(" ".join(_UNPRINTABLE.sub(" ", beginning(text, limit)).split()), limit))


def name(text: str) -> str:
    """Somebody's or something's name, in bold: what is bold already would end that."""
    return f"**{line(text, 100).replace('*', '')}**" if text.strip(" *") else "somebody"


def code(text: str) -> str:
    """A short text as code within a line: the name of a branch, of a label."""
    return f"`{line(text, 100).replace('`', chr(39))}`" if text.strip() else "?"


def link(ours: str, url: str | None) -> str:
    """A text of ours that leads somewhere, if that is an address."""
    return f"[{ours}]({url})" if url and len(url) <= 1000 and _URL.fullmatch(url) else ours


def quote(text: str | None) -> str:
    """What somebody wrote, as a quotation below; nothing if there is nothing."""
    body = plain(shorten(beginning(text or "", MAX_QUOTE).replace("\r\n", "\n").strip(), MAX_QUOTE))
    if not body:
        return ""
    fence = "~" * max((len(run) + 1 for run in _FENCE.findall(body)), default=3)
    return f"\n{fence} quote\n{body}\n{fence}"


def commit(id: str, message: str, url: str | None) -> str:
    """A commit of a push: where to see it, and the first line of its message."""
    return f"{link(f'`{id[:8]}`' if id.isalnum() else 'commit', url)} {line(message.strip().partition(chr(10))[0])}"


def listing(items: Sequence[T], tell: Callable[[T], str]) -> str:
    """Lines below each other, not too many."""
    more = [f"- and {len(items) - MAX_LISTED} more"] if len(items) > MAX_LISTED else []
    return "".join(f"\n{each}" for each in [*(f"- {tell(item)}" for item in items[:MAX_LISTED]), *more])


def shorten(text: str, limit: int) -> str:
    """The beginning of a text that is too long."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def fit_topic(topic: str, otherwise: str) -> str:
    """A topic that can be stored."""
    fit = without_bad_characters(beginning(topic, MAX_TOPIC_LENGTH))
    return shorten(" ".join(fit.split()), MAX_TOPIC_LENGTH) or otherwise


def fit_content(content: str) -> str:
    """A text that can be stored."""
    return shorten(beginning(content, MAX_MESSAGE_LENGTH).replace("\0", "").strip(), MAX_MESSAGE_LENGTH) or "(nothing)"
