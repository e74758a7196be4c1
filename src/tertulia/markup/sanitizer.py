"""The last gate: whatever the renderer wrote, only these tags, attributes and addresses get through.

The list is what the renderer produces and nothing more; for what it produces the gate changes nothing (a test holds this).
"""

import nh3

from tertulia.markup.html import escape_attribute
from tertulia.markup.schemes import SCHEMES

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

_CLEANER = nh3.Cleaner(
    tags=set(_TAGS),
    attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
    clean_content_tags=set(),
    tag_attribute_values={"td": _ALIGNMENTS, "th": _ALIGNMENTS},
    link_rel=None,
    url_schemes=set(SCHEMES),
)


def sanitized(html: str) -> str:
    """The HTML, with everything left out that is not on the list."""
    return _CLEANER.clean(html)


def passes(url: str) -> bool:
    """Whether a link to this address keeps it."""
    return "href" in _CLEANER.clean(f'<a href="{escape_attribute(url)}"></a>')
