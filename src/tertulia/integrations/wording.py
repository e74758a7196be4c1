"""Putting what outsiders wrote into messages.

`line` and `quote` take away what would mean something to our markup beyond the look: mentions, links with another text than
their address, links to channels, times, formulas. They put a character of no width behind the first one, so that what people
see stays as it was. A link's text is always ours, never an outsider's.
"""

import re

from tertulia.kernel.text import bad_character
from tertulia.realms.limits import MAX_MESSAGE_LENGTH, MAX_TOPIC_LENGTH

MAX_QUOTE = 2000
MAX_LINE = 300
MAX_LISTED = 10
"""So many commits or alerts are told one by one."""

NOTHING = "\u200b"
_MEANING = re.compile(r"@(?=_?\*)|#(?=\*\*)|\](?=\()|<(?=time)|\$(?=\$)|!(?=\[)")
_MENTION = re.compile(r"@(?=_?\*)")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_URL = re.compile(r"https?://[^\s<>()\[\]\"'`\\]+", re.IGNORECASE)
_FENCE = re.compile(r"~{3,}")


def plain(text: str) -> str:
    """Text that names nobody."""
    return _MEANING.sub(lambda found: found[0] + NOTHING, _UNPRINTABLE.sub("", text))


def name_nobody(text: str) -> str:
    """Markup that was put together, without mentions."""
    return _MENTION.sub(lambda found: found[0] + NOTHING, text)


def line(text: str, limit: int = MAX_LINE) -> str:
    """Text as a part of a line."""
    return plain(shorten(" ".join(_UNPRINTABLE.sub(" ", text).split()), limit))


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
    body = plain(shorten((text or "").replace("\r\n", "\n").strip(), MAX_QUOTE))
    if not body:
        return ""
    fence = "~" * max((len(run) + 1 for run in _FENCE.findall(body)), default=3)
    return f"\n{fence} quote\n{body}\n{fence}"


def commit(id: str, message: str, url: str | None) -> str:
    """A commit of a push: where to see it, and the first line of its message."""
    return f"{link(f'`{id[:8]}`' if id.isalnum() else 'commit', url)} {line(message.strip().split(chr(10))[0])}"


def listing(items: list[str]) -> str:
    """Lines below each other, not too many."""
    more = [f"- and {len(items) - MAX_LISTED} more"] if len(items) > MAX_LISTED else []
    return "".join(f"\n{item}" for item in [*(f"- {item}" for item in items[:MAX_LISTED]), *more])


def shorten(text: str, limit: int) -> str:
    """The beginning of a text that is too long."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def fit_topic(topic: str, otherwise: str) -> str:
    """A topic that can be stored."""
    # What outsiders wrote may be as long as a request: only its beginning is looked at, each character once.
    beginning = topic.strip()[: 4 * MAX_TOPIC_LENGTH]
    fit = "".join(" " if bad_character(character) else character for character in beginning)
    return shorten(" ".join(fit.split()), MAX_TOPIC_LENGTH) or otherwise


def fit_content(content: str) -> str:
    """A text that can be stored."""
    return shorten(content.replace("\0", "").strip(), MAX_MESSAGE_LENGTH) or "(nothing)"
