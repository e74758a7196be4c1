"""Links in running text: written out, found by themselves, or made by a linkifier."""

import re
from collections.abc import Callable
from typing import NamedTuple

from tertulia.content.markup.addresses import FoundAddress, clean_url, read_destination
from tertulia.content.markup.escaping import escape, escape_attribute
from tertulia.content.markup.linkifiers import LinkifierMatch
from tertulia.content.markup.page import Page

_TITLE_AND_END = re.compile(r"""(?:[ \t]++(?:"([^"\n]{0,500})"|'([^'\n]{0,500})'))?[ \t]*+\)""")
_AUDIO = re.compile(r"/?user_uploads/[^?#]+\.(?:mp3|m4a|wav|ogg|oga|opus|flac|aac|weba)(?:[?#].*)?\Z", re.IGNORECASE)
_SPACES = re.compile(r"[ \t]*")


class Link(NamedTuple):
    """A link with its place in the text. `name` is what it was called, empty if the address itself is shown."""

    start: int
    end: int
    html: str
    url: str
    name: str


def read_link(page: Page, text: str, start: int, close: int, render: Callable[[str], str]) -> Link | None:
    """The link `[text](address "title")` whose brackets are these; with `!` before it and a file of ours, a sound.

    A sound from elsewhere is a link: a player would ask for it before anybody wants to hear it.
    """
    if not text.startswith("(", close + 1):
        return None
    spaces = _SPACES.match(text, close + 2)
    destination = read_destination(text, spaces.end() if spaces else close + 2)
    if destination is None:
        return None
    ending = _TITLE_AND_END.match(text, destination[1])
    url = clean_url(destination[0])
    if ending is None or url is None:
        return None
    url = localized(page, url)
    name = text[start + 1 : close]
    page.links.append(url)
    if start and text[start - 1] == "!" and _AUDIO.match(url):
        return Link(start - 1, ending.end(), _audio(url, name), url, name)
    title = ending[1] or ending[2]
    attribute = f' title="{escape_attribute(title)}"' if title else ""
    shown = render(name) if name.strip() else escape(destination[0])
    html = f'<a href="{escape_attribute(url)}"{attribute}>{shown}</a>'
    is_named = bool(name.strip()) and name != destination[0]
    return Link(start, ending.end(), html, url, name if is_named else "")


def automatic_link(page: Page, text: str, found: FoundAddress) -> Link:
    """A bare address as a link to itself."""
    url = localized(page, found.url)
    page.links.append(url)
    shown = escape(text[found.start : found.end])
    return Link(found.start, found.end, f'<a href="{escape_attribute(url)}">{shown}</a>', url, "")


def linkifier_link(page: Page, text: str, match: LinkifierMatch) -> Link:
    """What a linkifier makes of its match."""
    page.links.append(match.url)
    shown = text[match.start : match.end]
    return Link(
        match.start, match.end, f'<a href="{escape_attribute(match.url)}">{escape(shown)}</a>', match.url, shown
    )


def localized(page: Page, url: str) -> str:
    """An address of this realm, relative: it works for readers who reach the server by another name."""
    home = page.context.realm_url
    if home and url.startswith(f"{home}/"):
        rest = url[len(home) + 1 :]
        if rest.startswith(("#", "user_uploads/")):
            return rest
    return url


def _audio(url: str, title: str) -> str:
    return f'<audio controls="" preload="metadata" src="{escape_attribute(url)}" title="{escape_attribute(title)}"></audio>'
