"""Previews of links below a text, as HTML (pure).

They follow the HTML of the text, in the order of its links, each in one `div` of the class `message_embed`, which no text can
bring about. So they can be found again, taken out and carried over. All that a page says is plain text here; its picture has
an address of ours, or is the one for pages that have none: clients of the protocol know no preview without a picture.
"""

import re
from collections.abc import Iterable
from html import unescape

import msgspec

from tertulia.content.markup.escaping import escape, escape_attribute

NO_PICTURE = "/static/images/link_preview.svg"
_EMBED = re.compile(
    r'\n<div class="message_embed"><a class="message_embed_image" href="([^"]*)" style="[^"]*"></a>'
    r'<div class="data-container">.*?</div></div></div>',
    re.DOTALL,
)


class Embed(msgspec.Struct, frozen=True):
    """What is shown of a page."""

    url: str
    title: str
    description: str = ""
    picture: str = ""
    """An address of ours."""


def embeds_in(html: str) -> dict[str, str]:
    """The previews in HTML of ours, by the addresses that they are of."""
    return {unescape(found[1]): found[0] for found in _EMBED.finditer(html)}


def without_embeds(html: str, urls: Iterable[str] | None = None) -> str:
    """HTML of ours without the previews of these addresses, or without any."""
    gone = None if urls is None else frozenset(urls)
    return _EMBED.sub(lambda found: "" if gone is None or unescape(found[1]) in gone else found[0], html)


def with_embeds(html: str, embeds: Iterable[Embed]) -> str:
    """HTML of ours with these previews too; one that is there of the same address is replaced."""
    return carried_over(html, {embed.url: _written(embed) for embed in embeds})


def carried_over(html: str, written: dict[str, str]) -> str:
    """HTML of ours with previews that were written before, as far as it links what they are of."""
    text, all_written = without_embeds(html), embeds_in(html) | written
    places = {url: text.find(f'<a href="{escape_attribute(url)}"') for url in all_written}
    return text + "".join(all_written[url] for url in sorted(places, key=lambda url: places[url]) if places[url] >= 0)


def _written(embed: Embed) -> str:
    href = escape_attribute(embed.url)
    style = f"background-image: url(&quot;{escape_attribute(embed.picture or NO_PICTURE)}&quot;)"
    title = f'<a href="{href}" title="{escape_attribute(embed.title)}">{escape(embed.title)}</a>'
    return (
        f'\n<div class="message_embed"><a class="message_embed_image" href="{href}" style="{style}"></a>'
        f'<div class="data-container"><div class="message_embed_title">{title}</div>'
        f'<div class="message_embed_description">{escape(embed.description)}</div></div></div>'
    )
