"""Pictures that are elsewhere, as HTML (pure).

A reader's browser never asks for them: whoever has them would see who reads.
The HTML names an address of ours instead, which the worker fills (files/remote_pictures). It is made of the picture's own
address with the organization's key: nobody can make one up, and the same picture has the same address in every message. Only
texts that are sent have it: whoever gets our address of a picture can see whether it was named here before, so nobody gets one
without naming the picture themselves, in a message. The HTML of a message has two states:

- as it is sent: `class="image-loading-placeholder"`, and the signed address, which shows a sign of waiting until the picture
  is there, and then the picture;
- when the picture is there (`with_remote`): its size, and the address of its thumbnail. What is no picture becomes the link
  that it stands for.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping
from html import unescape
from typing import NamedTuple

import msgspec

from tertulia.content.markup.escaping import escape_attribute

PREFIX = "/external_content"
MAX_ADDRESS = 2000
"""Of a picture; longer ones are links alone."""
_SHOWN = re.compile(
    r'<div class="(?:youtube-video )?message_inline_image"><a(?: data-id="[^"]*")? href="([^"]*)"(?: title="[^"]*")?>'
    rf'(<img [^>]*src="{PREFIX}/\d+/([0-9a-f]{{64}})[^"]*">)</a></div>\n?'
)
# As messages had it before readers were private: what their browsers would ask others for.
_OLD_PICTURE = re.compile(
    r'(<div class="(?:youtube-video )?message_inline_image"><a(?: data-id="[^"]*")? href="([^"]*)"(?: title="[^"]*")?>)'
    r'<img src="(https?://[^"]*)">(</a></div>)'
)
_OLD_FILM = re.compile(
    r'<div class="message_inline_image message_inline_video"><a href="([^"]*)"(?: title="[^"]*")?>'
    r'<video preload="metadata" src="https?://[^"]*"></video></a></div>\n?'
)
_OLD_SOUND = re.compile(
    r'<audio controls="" preload="metadata" src="(?!/?user_uploads/)([^"]*)" title="([^"]*)"></audio>'
)


class RemotePicture(NamedTuple):
    """A picture that is elsewhere, and what our address of it ends with."""

    signature: str
    url: str


class Fetched(msgspec.Struct, frozen=True, gc=False):
    """What became of one. Without an address: it is none, or cannot be had."""

    address: str = ""
    content_type: str = ""
    width: int = 0
    height: int = 0
    is_animated: bool = False


def signed(key: str, url: str) -> RemotePicture:
    """A picture with its signature by an organization's key."""
    return RemotePicture(hmac.new(key.encode(), url.encode(errors="replace"), hashlib.sha256).hexdigest(), url)


def address_of(realm_id: int, signature: str) -> str:
    """Where a picture is to be had from us."""
    return f"{PREFIX}/{realm_id}/{signature}"


def waiting_image(realm_id: int, picture: RemotePicture) -> str:
    """The element of a picture that was not fetched yet, as far as the text knows."""
    return f'<img class="image-loading-placeholder" src="{address_of(realm_id, picture.signature)}">'


def with_remote(html: str, fetched: Mapping[str, Fetched]) -> str:
    """HTML of ours in which these pictures, by their signatures, are shown as what they turned out to be."""

    def complete(match: re.Match[str]) -> str:
        found = fetched.get(match[3])
        if found is None:
            return match[0]
        if found.address:
            return match[0].replace(match[2], f"<img {_attributes(found)}>")
        return _link_instead(html, match)

    return _SHOWN.sub(complete, html).removesuffix("\n")


def made_private(html: str, realm_id: int, key: str) -> tuple[str, list[RemotePicture]]:
    """HTML of ours from before readers were private, as it is now; and the pictures that it names."""
    pictures: dict[str, RemotePicture] = {}

    def sign(match: re.Match[str]) -> str:
        picture = signed(key, unescape(match[3]))
        if len(picture.url) > MAX_ADDRESS:
            return match[1] + match[2] + match[4]
        pictures[picture.signature] = picture
        return match[1] + waiting_image(realm_id, picture) + match[4]

    html = _OLD_PICTURE.sub(sign, html)
    html = _OLD_FILM.sub(lambda match: _link_instead(html, match), html).removesuffix("\n")
    html = _OLD_SOUND.sub(lambda match: f'!<a href="{match[1]}">{match[2] or match[1]}</a>', html)
    return html, list(pictures.values())


def _attributes(found: Fetched) -> str:
    attributes = {
        "data-original-dimensions": f"{found.width}x{found.height}",
        "src": found.address,
    }
    if found.content_type:
        attributes["data-original-content-type"] = found.content_type
    if found.is_animated:
        attributes["data-animated"] = "true"
    return " ".join(f'{name}="{escape_attribute(value)}"' for name, value in sorted(attributes.items()))


def _link_instead(html: str, match: re.Match[str]) -> str:
    """Nothing, if the text has the link that the preview belongs to; else that link: the preview stood for its paragraph."""
    others = html[: match.start()] + html[match.end() :]
    if f'<a href="{match[1]}"' in _SHOWN.sub("", _OLD_FILM.sub("", others)):
        return ""
    return f'<p><a href="{match[1]}">{match[1]}</a></p>' + ("\n" if match[0].endswith("\n") else "")
