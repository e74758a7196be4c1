"""The last gate: whatever the renderer wrote, only these tags, attributes and addresses get through.

The list is what the renderer produces and nothing more; for what it produces the gate changes nothing (a test holds this).
"""

import re
from collections.abc import Callable

import nh3

from tertulia.content.markup.escaping import escape_attribute
from tertulia.content.markup.schemes import SCHEMES

# fmt: off
_TAGS = frozenset([
    "p", "br", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "ul", "ol", "li", "blockquote", "pre", "code", "div", "span", "a",
    "img", "audio", "video", "em", "strong", "del", "table", "thead", "tbody", "tr", "th", "td", "time",
    "math", "semantics", "mrow", "mtext", "annotation",
])
# fmt: on
_ATTRIBUTES = {
    "a": {"class", "data-id", "data-stream-id", "href", "title"},
    "annotation": {"encoding"},
    "audio": {"controls", "preload", "src", "title"},
    "div": {"aria-hidden", "class", "data-code-language"},
    "img": {
        "alt",
        "class",
        "data-animated",
        "data-original-content-type",
        "data-original-dimensions",
        "data-transcoded-image",
        "src",
        "title",
    },
    "math": {"xmlns"},
    "ol": {"start"},
    "span": {"aria-hidden", "aria-label", "class", "data-user-group-id", "data-user-id", "role", "title"},
    "time": {"datetime"},
    "video": {"preload", "src"},
}
_ALIGNMENTS = {"style": {f"text-align: {name};" for name in ("left", "center", "right")}}

# Browsers take a backslash for a slash, and leave out what ends a line.
_OUR_SOURCE = re.compile(r"/(?![/\\\t\r\n])|user_uploads/")


def _keep(_tag: str, attribute: str, value: str) -> str | None:
    """A browser loads sources by itself: only what is ours, so that nobody elsewhere sees who reads."""
    return None if attribute == "src" and not _OUR_SOURCE.match(value) else value


def _cleaner(attribute_filter: Callable[[str, str, str], str | None] | None) -> nh3.Cleaner:
    return nh3.Cleaner(
        tags=set(_TAGS),
        attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
        attribute_filter=attribute_filter,
        clean_content_tags=set(),
        tag_attribute_values={"td": _ALIGNMENTS, "th": _ALIGNMENTS},
        link_rel=None,
        url_schemes=set(SCHEMES),
    )


_CLEANER = _cleaner(None)
# Calls back into Python for each attribute, so only where there may be a source.
_SOURCE_CLEANER = _cleaner(_keep)


def sanitized(html: str) -> str:
    """The HTML, with everything left out that is not on the list."""
    return (_SOURCE_CLEANER if "src=" in html else _CLEANER).clean(html)


def passes(url: str) -> bool:
    """Whether a link to this address keeps it."""
    return "href" in _CLEANER.clean(f'<a href="{escape_attribute(url)}"></a>')
