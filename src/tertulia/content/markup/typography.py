"""Small things in running text: emoji by name, as characters and as emoticons, times, TeX."""

import re
from datetime import UTC, datetime

from tertulia.content.emoji import EXTRA_EMOJI, find_code, find_name, is_text_by_default, trim_code
from tertulia.content.markup.escaping import escape, escape_attribute
from tertulia.content.markup.page import Page
from tertulia.content.markup.references import Atom

EMOTICONS = {
    ":)": "slight_smile",
    "(:": "slight_smile",
    ":(": "frown",
    "<3": "heart",
    ":|": "neutral",
    ":/": "confused",
    ";)": "wink",
    ":D": "smile",
    ":o": "open_mouth",
    ":O": "open_mouth",
    ":p": "stuck_out_tongue",
    ":P": "stuck_out_tongue",
}
EXTRA_EMOJI_URL = f"/static/generated/emoji/images/emoji/unicode/{EXTRA_EMOJI}.png"

# The characters an emoji may begin with, and a key cap ends with, as the inside of a character class. Few wide ranges, because
# every character of every text is compared with them; a test holds that no emoji begins elsewhere.
EMOJI_CHARACTERS = "\u00a9\u00ae\u203c-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"

_NAME = re.compile(r":([^\W_A-Z][\w-]*|[+-]1):")
_AROUND_EMOTICON = frozenset(" \t\n\r\f\v,.;?!()[]\"'")
_TIME = re.compile(r"<time:([^<>\n]{1,100})>")
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ].*)?|\d{8}(?:T.*)?")
# A bare dollar ends the search, so that no stretch of text is searched twice.
_TEX = re.compile(r"\$\$(?![_$\s])((?:[^$\n\\]|\\[^\n])+)\$\$(?![\w$])")
# One drawn thing: two regional letters, or a character with its selector, tone or tags, joined to further ones.
_CLUSTER = re.compile(
    "[\U0001f1e6-\U0001f1ff]{2}"
    "|[^\\s\u200d](?:\ufe0f|[\U0001f3fb-\U0001f3ff])?[\U000e0020-\U000e007f]*"
    "(?:\u200d[^\\s\u200d](?:\ufe0f|[\U0001f3fb-\U0001f3ff])?)*"
)
_KEYCAP = re.compile("[0-9#*]\ufe0f?\\Z")


def read_emoji_name(page: Page, text: str, start: int) -> Atom | None:
    """An emoji by its name between colons."""
    match = _NAME.match(text, start)
    if match is None:
        return None
    name = match[1]
    if custom := page.custom_emoji.get(name):
        return _picture(name, custom.url), match.end()
    if name == EXTRA_EMOJI:
        return _picture(name, EXTRA_EMOJI_URL), match.end()
    code = find_code(name)
    return None if code is None else (_emoji(name, code), match.end())


def read_emoticon(text: str, start: int) -> Atom | None:
    """An emoticon that stands free."""
    name = EMOTICONS.get(text[start : start + 2])
    if name is None:
        return None
    if start and text[start - 1] not in _AROUND_EMOTICON:
        return None
    if start + 2 < len(text) and text[start + 2] not in _AROUND_EMOTICON:
        return None
    code = find_code(name)
    assert code is not None  # a test holds that each is in the table
    return _emoji(name, code), start + 2


def read_emoji_characters(text: str, start: int) -> tuple[str | None, int]:
    """An emoji as characters; None as HTML leaves the characters up to the end as they are."""
    cluster = _CLUSTER.match(text, start)
    if cluster is None:
        return None, start + 1
    characters = cluster.group()
    code = trim_code(characters)
    name = find_name(code)
    if name is None or (is_text_by_default(code) and not characters.endswith("\ufe0f")):
        return None, cluster.end()
    return _emoji(name, code), cluster.end()


def read_keycap(text: str, end: int, earliest: int) -> tuple[str, int] | None:
    """A key cap that ends here, and where it begins: its first character is an ordinary one."""
    first = _KEYCAP.search(text, max(earliest, end - 2), end)
    if first is None:
        return None
    code = trim_code(first.group() + "\u20e3")
    name = find_name(code)
    return None if name is None else (_emoji(name, code), first.start())


def _emoji(name: str, code: str) -> str:
    label = name.replace("_", " ")
    return f'<span aria-label="{label}" class="emoji emoji-{code}" role="img" title="{label}">:{name}:</span>'


def _picture(name: str, url: str) -> str:
    title = escape_attribute(name.replace("_", " "))
    return f'<img alt=":{escape_attribute(name)}:" class="emoji" src="{escape_attribute(url)}" title="{title}">'


def read_time(text: str, start: int) -> Atom | None:
    """A moment, shown to each reader in their own zone."""
    match = _TIME.match(text, start)
    if match is None:
        return None
    written = match[1]
    moment = _parse_time(written)
    if moment is None:
        return f'<span class="timestamp-error">Invalid time format: {escape(written)}</span>', match.end()
    return f'<time datetime="{moment}">{escape(written)}</time>', match.end()


def _parse_time(written: str) -> str | None:
    """The moment in UTC; without a zone it was meant so, without a time of day it is midnight."""
    if not _ISO.match(written):
        return None
    try:
        moment = datetime.fromisoformat(written.strip())
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return moment.isoformat().replace("+00:00", "Z")


def read_tex(text: str, start: int) -> Atom | None:
    """TeX between double dollars, within one line."""
    if start and (text[start - 1] == "$" or text[start - 1].isalnum() or text[start - 1] == "_"):
        return None
    match = _TEX.match(text, start)
    return None if match is None or not match[1].strip() else (tex(match[1].strip()), match.end())


def tex(source: str) -> str:
    """TeX as the source it is, in the places where clients look for it; drawing it is the client's part."""
    safe = escape(source)
    return (
        '<span class="katex"><span class="katex-mathml"><math xmlns="http://www.w3.org/1998/Math/MathML"><semantics>'
        f"<mrow><mtext>{safe}</mtext></mrow>"
        f'<annotation encoding="application/x-tex">{safe}</annotation></semantics></math></span>'
        f'<span class="katex-html" aria-hidden="true">{safe}</span></span>'
    )
