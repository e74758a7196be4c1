"""Pictures and films below the text that links to them.

A film from elsewhere has no preview: to show even its first frame a reader's browser would have to ask for it. It is a link.
"""

import re
from collections.abc import Mapping
from html import unescape
from posixpath import basename
from urllib.parse import unquote

from tertulia.content.markup.escaping import escape_attribute
from tertulia.content.markup.links import Link
from tertulia.content.markup.model import Upload
from tertulia.content.markup.page import Page
from tertulia.content.markup.remote import MAX_ADDRESS, signed, waiting_image

LOADING = "/static/images/loading/loader.svg"
_IMAGE_TYPES = frozenset(f"image/{kind}" for kind in ("avif", "gif", "heic", "jpeg", "png", "tiff", "webp"))
_VIDEO_TYPES = frozenset({"video/mp4", "video/webm", "video/quicktime"})
_IMAGE = re.compile(r"https?://[^?#]+\.(?:bmp|gif|jpe|jpeg|jpg|png|webp)(?:[?#].*)?\Z", re.IGNORECASE)
_FILM = re.compile(r"https?://[^?#]+\.(?:mp3|mp4|webm|mov|ogg|m4a|wav)(?:[?#].*)?\Z", re.IGNORECASE)
_YOUTUBE = re.compile(
    r"https?://(?:(?:www\.|m\.)?youtube(?:-nocookie)?\.com/(?:(?:embed|shorts|live|v)/|watch\?(?:[^#]*&)?v=)|youtu\.be/)"
    r"([\w-]{11})(?![\w-])",
    re.IGNORECASE,
)
_WAITING = re.compile(
    r'<div class="message_inline_image"><a href="([^"]*)"( title="[^"]*")?>'
    r'(<img class="image-loading-placeholder"[^>]*>)</a></div>'
)
_SHOWN = re.compile(r'<div class="(?:youtube-video )?message_inline_image[ "]')
_PAGE = re.compile(r"https?://[^\s/]", re.IGNORECASE)
_UPLOAD = re.compile(r"/?user_uploads/(\d+/[^?#]+)")


def note_link(page: Page, link: Link) -> None:
    """Remember a link to a file that the author may share, or to a page of which a preview may be made."""
    path = _path_of(link.url)
    if not path and not page.quote_depth and not page.spoiler_depth and _may_be_page(page, link.url):
        page.pages[link.url] = None
    if path and (upload := _find_upload(page, path)):
        page.attachments[upload.path] = None


def previews_of(page: Page, links: list[Link]) -> list[str]:
    """The previews that these links of one paragraph deserve, each address once in a message."""
    if page.quote_depth or not page.allows_previews:
        return []
    found = []
    for link in links:
        if link.url in page.previewed:
            continue
        html = _preview(page, link)
        if html is not None:
            page.previewed.add(link.url)
            found.append(html)
    return found


def replaces_paragraph(link: Link, preview: str) -> bool:
    """Whether the preview of a link that is alone in its paragraph says all that the link says."""
    return not link.name and not preview.startswith('<div class="youtube')


def with_previews(html: str, uploads: Mapping[str, Upload]) -> str:
    """HTML of ours in which the pictures that were still being made are shown, as far as they are ready by now.

    A picture that turned out to be none becomes the link that it stands for.
    """

    def complete(match: re.Match[str]) -> str:
        path = _path_of(unescape(match[1]))
        upload = uploads.get(path) or uploads.get(unquote(path))
        if upload is None or (upload.content_type and not upload.thumbnail):
            return match[0]
        if upload.content_type:
            return f"{match[0][: match.start(3) - match.start()]}<img {_picture(upload)}></a></div>"
        link = f'<a href="{match[1]}">'
        return "" if link in html else f"<p>{link}{match[1]}</a></p>"

    return _WAITING.sub(complete, html)


def has_previews(html: str) -> bool:
    """Whether HTML of ours shows any picture or film."""
    return _SHOWN.search(html) is not None


def _may_be_page(page: Page, url: str) -> bool:
    """Whether it is of the web, and neither here nor a picture or film."""
    if len(url.encode(errors="replace")) > MAX_ADDRESS or not _PAGE.match(url) or not url.isprintable():
        return False
    is_here = bool(page.context.realm_url) and f"{url}/".startswith(f"{page.context.realm_url}/")
    return not (is_here or _IMAGE.match(url) or _FILM.match(url) or _YOUTUBE.match(url))


def _path_of(url: str) -> str:
    match = _UPLOAD.match(url)
    return match[1] if match else ""


def _find_upload(page: Page, path: str) -> Upload | None:
    return page.context.uploads.get(path) or page.context.uploads.get(unquote(path))


def _preview(page: Page, link: Link) -> str | None:
    if link.html.startswith("<audio"):
        return None
    path = _path_of(link.url)
    if path:
        upload = _find_upload(page, path)
        return _upload(link, path, upload) if upload else None
    if youtube := _YOUTUBE.match(link.url):
        image = _remote(page, f"https://i.ytimg.com/vi/{youtube[1]}/mqdefault.jpg")
        href = escape_attribute(link.url)
        opening = f'<div class="youtube-video message_inline_image"><a data-id="{youtube[1]}" href="{href}">'
        return f"{opening}{image}</a></div>" if image else None
    if _IMAGE.match(link.url) and (image := _remote(page, link.url)):
        return _image(link.url, link.name, image)
    return None


def _remote(page: Page, url: str) -> str:
    """The element of a picture that is elsewhere; nothing, where none is to be fetched."""
    if not page.context.picture_key or len(url) > MAX_ADDRESS:
        return ""
    picture = signed(page.context.picture_key, url)
    page.remote[picture.signature] = picture
    return waiting_image(page.context.realm_id, picture)


def _upload(link: Link, path: str, upload: Upload) -> str | None:
    url = f"/user_uploads/{path}"
    if upload.content_type in _VIDEO_TYPES:
        return _video(url, link.name)
    if upload.content_type not in _IMAGE_TYPES:
        return None
    return _image(url, link.name or basename(unquote(path)), f"<img {_picture(upload)}>")


def _picture(upload: Upload) -> str:
    attributes = {
        "data-original-content-type": upload.content_type,
        "src": upload.thumbnail,
    }
    if upload.width and upload.height:
        attributes["data-original-dimensions"] = f"{upload.width}x{upload.height}"
    if not upload.thumbnail:
        attributes |= {"class": "image-loading-placeholder", "src": LOADING}
    if upload.is_animated:
        attributes["data-animated"] = "true"
    if upload.transcoded:
        attributes["data-transcoded-image"] = upload.transcoded
    return " ".join(f'{name}="{escape_attribute(value)}"' for name, value in sorted(attributes.items()))


def _image(url: str, title: str, image: str) -> str:
    attribute = f' title="{escape_attribute(title)}"' if title else ""
    return f'<div class="message_inline_image"><a href="{escape_attribute(url)}"{attribute}>{image}</a></div>'


def _video(url: str, title: str) -> str:
    attribute = f' title="{escape_attribute(title)}"' if title else ""
    return (
        f'<div class="message_inline_image message_inline_video"><a href="{escape_attribute(url)}"{attribute}>'
        f'<video preload="metadata" src="{escape_attribute(url)}"></video></a></div>'
    )
