"""Which addresses may become links, and where a bare address in running text begins and ends.

Every scan here looks at each character a bounded number of times, whatever the text.
"""

import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from tertulia.content.markup.sanitizer import passes
from tertulia.content.markup.schemes import SCHEMES

# Schemes that are recognized in running text; the others need to be written as [text](address).
_AUTOMATIC = frozenset({"http", "https", "hansoft", "obsidian", "zotero", "asanadesktop"})
# Top-level domains that are file names far more often than hosts.
_FILE_ENDINGS = frozenset({"java", "md", "mov", "py", "zip"})
_BEFORE = frozenset(" \t\n\r\f\v'\"(,:<")
# A closing parenthesis is not here: one without its partner ends the address anyway.
_TRAILING = "!:;?,.'\">"
_MAX_PARENTHESES = 6

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*(?=:)")
_SCHEME_BACKWARDS = re.compile(r"[a-zA-Z]{4,12}\Z")
_HOST_AND_PORT = re.compile(r"[\w.-]+:\d{1,5}(?:[/?#]|\Z)")
_UNSAFE = re.compile(r"[\s\x00-\x20\x7f-\x9f\u2028\u2029\\<>\"]")
_USUAL_WEB = re.compile(
    r"https?://(?:(?!xn--)[a-z0-9-]+\.)*(?!xn--)[a-z][a-z0-9-]*(?::\d{1,4})?(?:[/?#]|\Z)", re.IGNORECASE
)
_PLAIN_STRETCH = re.compile(r"[^\s()<>\"]*")
_DESTINATION_STRETCH = re.compile(r"[^\s()<>]*")
_HOST = re.compile(r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+([^\W\d_][\w-]{0,61}[^\W_])")
_EMAIL = re.compile(r"[\w.+-]{1,64}@((?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+([^\W\d_][\w-]{0,61}[^\W_]))")
_RUN = re.compile(r"[\w.+@-]+")
_PORT = re.compile(r":\d{1,5}(?![\d\w])")
_BITCOIN = re.compile(r":[13][a-km-zA-HJ-NP-Z1-9]{25,34}(?!\w)")


class FoundAddress(NamedTuple):
    """A bare address in a text: where it is, and what it links to."""

    start: int
    end: int
    url: str


def clean_url(url: str) -> str | None:
    """The address an explicit link leads to, or None if it may not be one."""
    if not url or _UNSAFE.search(url):
        return None
    if url[0] in "/#":
        return url
    scheme = _SCHEME.match(url)
    if scheme and scheme.group().lower() in SCHEMES:
        return url if is_sound(url) else None
    if scheme and not _HOST_AND_PORT.match(url):
        return None
    if "@" in url.split("?", 1)[0] and not scheme:
        return f"mailto:{url}"
    return f"http://{url}" if is_sound(f"http://{url}") else None


def is_sound(url: str) -> bool:
    """Whether the last gate would let the address pass: what has no possible host stays text."""
    return _USUAL_WEB.match(url) is not None or passes(url)


def read_destination(text: str, start: int) -> tuple[str, int] | None:
    """The address inside the parentheses of a link, and where it ends."""
    if text.startswith("<", start):
        end = text.find(">", start + 1, start + 2048)
        return None if end < 0 else (text[start + 1 : end], end + 1)
    balanced = _balanced(text, start, _DESTINATION_STRETCH)
    return None if balanced is None else (text[start:balanced], balanced)


def find_at_colon(text: str, colon: int, earliest: int) -> FoundAddress | None:
    """The address around a colon: `https://...`."""
    scheme = _SCHEME_BACKWARDS.search(text, max(earliest, colon - 12), colon)
    if scheme is None or not _may_start(text, scheme.start()):
        return None
    name = scheme.group().lower()
    if name in _AUTOMATIC and text.startswith("://", colon):
        end = _balanced(text, colon + 3, _PLAIN_STRETCH)
        if end is None:
            return None
        end = _without_trailing(text, colon + 3, end)
        url = text[scheme.start() : end]
        return FoundAddress(scheme.start(), end, url) if end > colon + 3 and clean_url(url) else None
    if name == "bitcoin" and (rest := _BITCOIN.match(text, colon)):
        return FoundAddress(scheme.start(), rest.end(), text[scheme.start() : rest.end()])
    return None


def run_around(text: str, position: int, earliest: int) -> tuple[int, int]:
    """The stretch of characters around a dot or an at sign that a host or an email address may consist of."""
    start = position
    while start > earliest and ((before := text[start - 1]).isalnum() or before in "._+-@"):
        start -= 1
    run = _RUN.match(text, start)
    assert run is not None  # it has at least the character at `position`
    return start, run.end()


def find_in_run(text: str, start: int, end: int) -> FoundAddress | None:
    """The host or email address that such a stretch is, with the path behind it."""
    if not _may_start(text, start):
        return None
    email = _EMAIL.match(text, start, end)
    if email is not None:
        if not _is_domain(email[2]) or not _ends_well(text, email.end(), end):
            return None
        return FoundAddress(start, email.end(), f"mailto:{email.group()}")
    host = _HOST.match(text, start, end)
    if host is None or not _is_domain(host[1]) or host[1].lower() in _FILE_ENDINGS:
        return None
    if not _ends_well(text, host.end(), end):
        return None
    stop = host.end()
    if port := _PORT.match(text, stop):
        stop = port.end()
    if stop < len(text) and text[stop] in "/?#":
        longer = _balanced(text, stop, _PLAIN_STRETCH)
        stop = stop if longer is None else _without_trailing(text, stop, longer)
    url = f"http://{text[start:stop]}"
    return FoundAddress(start, stop, url) if clean_url(url) else None


@cache
def top_level_domains() -> frozenset[str]:
    """Every top-level domain there is, lower-cased."""
    return frozenset(files("tertulia.content.markup").joinpath("top_level_domains.txt").read_text("utf-8").split())


def _is_domain(label: str) -> bool:
    return label.lower() in top_level_domains()


def _ends_well(text: str, end: int, run_end: int) -> bool:
    """A host that goes on as something else is none: `v1.co_2`, `a.com@x`."""
    rest = text[end:run_end]
    return not rest or not rest.strip(".-")


def _may_start(text: str, start: int) -> bool:
    return start == 0 or text[start - 1] in _BEFORE or text[start - 1] > "\x7f"


def _without_trailing(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1] in _TRAILING:
        end -= 1
    return end


def _balanced(text: str, start: int, stretch: re.Pattern[str]) -> int | None:
    """Where an address ends in which parentheses come in pairs; None if they are nested too deep or stay open."""
    open_at: list[int] = []
    position = start
    while True:
        match = stretch.match(text, position)
        assert match is not None  # it matches nothing as well
        position = match.end()
        following = text[position : position + 1]
        if following == "(":
            if len(open_at) == _MAX_PARENTHESES:
                return None if stretch is _DESTINATION_STRETCH else open_at[0]
            open_at.append(position)
        elif following == ")" and open_at:
            open_at.pop()
        else:
            break
        position += 1
    if not open_at:
        return position
    return None if stretch is _DESTINATION_STRETCH else open_at[0]
