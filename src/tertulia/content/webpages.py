"""What a page of the web says of itself: its title, what it is about, a picture (pure).

The page comes from anybody, and may be made to be slow to read. So no tree is built: one walk from tag to tag, each character
looked at a bounded number of times, and it ends with the head, or after so many tags. What cannot be read is not there.
"""

import re
from html import unescape
from typing import NamedTuple

from tertulia.kernel.text import without_bad_characters
from tertulia.kernel.urls import join_url, split_url

MAX_TITLE = 200
MAX_DESCRIPTION = 500
MAX_PICTURE_URL = 2000
_MAX_TAGS = 400
_MAX_SIGNS = 20_000
"""So many `<` are looked at: the head of a page has a few hundred."""
_MAX_ATTRIBUTES = 20
_MAX_VALUE = 4000
_SNIFFED = 2048
"""Bytes in which a page says how its letters are encoded."""

_TAG = re.compile(
    r"<(?:(!--)|(?:(script|style|noscript|template|svg|title)|(meta)|(/head|body))(?=[\s/>]))", re.IGNORECASE
)
_ATTRIBUTE = re.compile(
    rf"[\s/]{{0,100}}([^\s\"'>/=]{{1,60}})"
    rf"(?:\s{{0,20}}=\s{{0,20}}(?:\"([^\"]{{0,{_MAX_VALUE}}})\"|'([^']{{0,{_MAX_VALUE}}})'|([^\s\"'>]{{1,{_MAX_VALUE}}})))?"
)
_CHARSET = re.compile(rb"charset\s{0,5}=\s{0,5}[\"']?\s{0,5}([\w.:-]{2,30})", re.IGNORECASE)
# By the names that pages use. Python knows more codecs than these, and some of them are no encodings of text.
_ENCODINGS = frozenset((
    *("utf-8", "utf8", "us-ascii", "ascii", "latin1", "koi8-r", "koi8-u", "tis-620", "windows-874"),
    *(f"iso-8859-{number}" for number in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 15, 16)),
    *(f"windows-{number}" for number in range(1250, 1259)),
    *("shift_jis", "euc-jp", "iso-2022-jp", "gb2312", "gbk", "gb18030", "big5", "euc-kr"),
))  # fmt: skip
_TITLES = ("og:title", "twitter:title", "title")
_DESCRIPTIONS = ("og:description", "twitter:description", "description")
_PICTURES = ("og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src")


class PageFacts(NamedTuple):
    """What a page says of itself. The texts are plain, on one line and not longer than they may be."""

    title: str
    description: str = ""
    picture: str = ""
    """The address of a picture, which is anywhere."""


def read_page(body: bytes, content_type: str, url: str) -> PageFacts | None:
    """What is found in the beginning of a page that is at this address; None if it has no title."""
    said = _sayings(_decoded(body, content_type))
    title = _line(_first(said, _TITLES), MAX_TITLE)
    if not title:
        return None
    description = _line(_first(said, _DESCRIPTIONS), MAX_DESCRIPTION)
    return PageFacts(title, description, _picture(_first(said, _PICTURES), url))


def _decoded(body: bytes, content_type: str) -> str:
    named = _CHARSET.search(content_type.encode(errors="replace")) or _CHARSET.search(body[:_SNIFFED])
    encoding = named[1].decode().lower() if named else "utf-8"
    if body.startswith(b"\xef\xbb\xbf") or encoding not in _ENCODINGS:
        encoding = "utf-8-sig"
    return body.decode(encoding, errors="replace")


def _sayings(page: str) -> dict[str, str]:
    """The first of each name; the title as `title`."""
    found: dict[str, str] = {}
    position, end_of_head = 0, sum(len(piece) + 1 for piece in page.split("<", _MAX_SIGNS)[:_MAX_SIGNS])
    for _ in range(_MAX_TAGS):
        tag = _TAG.search(page, position, end_of_head)
        if tag is None or tag[4]:
            break
        position = tag.end()
        if tag[3]:
            position, given = _attributes(page, position)
            name = (given.get("property") or given.get("name") or given.get("itemprop") or "").strip().lower()
            if given.get("content", "").strip():
                found.setdefault(name, given["content"])
            continue
        end = _end_of(page, position, tag)
        if end is None:
            break
        if tag[2] and tag[2].lower() == "title":
            found.setdefault("title", page[page.find(">", position) + 1 : end][:_MAX_VALUE])
        position = end
    return found


def _end_of(page: str, position: int, tag: re.Match[str]) -> int | None:
    """Where something ends in which tags mean nothing. What does not end is the end of the page."""
    end = re.compile("-->" if tag[1] else f"</{tag[2]}(?=[\\s/>])", re.IGNORECASE).search(page, position)
    return None if end is None else end.start()


def _attributes(page: str, position: int) -> tuple[int, dict[str, str]]:
    given: dict[str, str] = {}
    for _ in range(_MAX_ATTRIBUTES):
        found = _ATTRIBUTE.match(page, position)
        if found is None:
            break
        given.setdefault(found[1].lower(), unescape(found[2] or found[3] or found[4] or ""))
        position = found.end()
    return position, given


def _first(said: dict[str, str], names: tuple[str, ...]) -> str:
    return next((said[name] for name in names if name in said), "")


def _line(text: str, limit: int) -> str:
    """Without what is unseen or turns around its surroundings."""
    line = " ".join(without_bad_characters(unescape(text)[:_MAX_VALUE]).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _picture(address: str, url: str) -> str:
    try:
        found = join_url(url, address.strip()) if address else ""
        parts = split_url(found)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return ""
    return found if is_good and len(found) <= MAX_PICTURE_URL and found.isprintable() and " " not in found else ""
