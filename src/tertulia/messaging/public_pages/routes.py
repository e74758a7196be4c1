"""Addresses of public pages. Nobody has to say who they are, and it makes no difference who does."""

from functools import partial
from typing import Annotated

import msgspec

from tertulia.kernel.call import Call
from tertulia.kernel.db import Reader
from tertulia.kernel.endpoint import Reply, get
from tertulia.kernel.errors import Refusal, not_found
from tertulia.kernel.languages import language_for
from tertulia.kernel.settings import Settings
from tertulia.messaging.public_pages import actions
from tertulia.messaging.public_pages.actions import PublicPages, get_site, place_of
from tertulia.messaging.public_pages.layout import HEADERS, HTML, INDEX, plain_page, style_sheet

_CHANNEL = "/channels/{channel_id}"
_TOPIC = _CHANNEL + "/topics/{topic_id}"
BELOW = "/public/"
MISSING = not_found().status
Number = Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]


@get("/public", prefix="", listed=False)
@get(INDEX, prefix="", listed=False)
async def get_public_index(call: Call, pages: PublicPages) -> Reply:
    """The web-public channels of the organization. People leave out the last sign of its address."""
    return await pages.show(call, actions.make_index, "index")


@get(_CHANNEL, prefix="/public", listed=False)
async def get_public_channel(call: Call, pages: PublicPages, *, channel_id: int, before: Number | None = None) -> Reply:
    """The topics of a channel, newest first."""
    make = partial(actions.make_channel, channel_id=channel_id, before=before)
    return await pages.show(call, make, "channel", channel_id, before)


@get(_TOPIC, prefix="/public", listed=False)
async def get_public_topic(
    call: Call, pages: PublicPages, *, channel_id: int, topic_id: int, start: Number | None = None
) -> Reply:
    """The messages of a topic, oldest first."""
    make = partial(actions.make_topic, channel_id=channel_id, topic_id=topic_id, start=start)
    return await pages.show(call, make, "topic", channel_id, topic_id, start)


@get(_CHANNEL + "/feed.atom", prefix="/public", listed=False)
async def get_channel_feed(call: Call, pages: PublicPages, *, channel_id: int) -> Reply:
    """The newest messages of a channel."""
    return await pages.show(call, partial(actions.make_channel_feed, channel_id=channel_id), "channel feed", channel_id)


@get(_TOPIC + "/feed.atom", prefix="/public", listed=False)
async def get_topic_feed(call: Call, pages: PublicPages, *, channel_id: int, topic_id: int) -> Reply:
    """The newest messages of a topic."""
    make = partial(actions.make_topic_feed, channel_id=channel_id, topic_id=topic_id)
    return await pages.show(call, make, "topic feed", channel_id, topic_id)


@get("/messages/{message_id}", prefix="/public", listed=False)
async def get_public_message(call: Call, reader: Reader, settings: Settings, *, message_id: int) -> Reply:
    """To where a message is now: its address lasts, though it is moved."""
    site = await get_site(call, reader, settings)
    headers = {"Location": await place_of(reader, site, message_id), "X-Robots-Tag": "noindex"}
    return Reply(b"", 302, headers, HTML)


@get("/sitemap.xml", prefix="", listed=False)
async def get_sitemap(call: Call, pages: PublicPages) -> Reply:
    """All public pages; of many topics an index of parts."""
    return await pages.show(call, partial(actions.make_sitemap, parts=pages.parts), "sitemap")


@get("/sitemaps/channels.xml", prefix="/public", listed=False)
async def get_sitemap_of_channels(call: Call, pages: PublicPages) -> Reply:
    """The part with the pages of channels."""
    return await pages.show(call, actions.make_sitemap_of_channels, "sitemap of channels")


@get("/sitemaps/channels/{channel_id}/{first}.xml", prefix="/public", listed=False)
async def get_sitemap_part(call: Call, pages: PublicPages, *, channel_id: int, first: int) -> Reply:
    """A part with the pages of topics of a channel."""
    make = partial(actions.make_sitemap_part, channel_id=channel_id, first=first)
    return await pages.show(call, make, "sitemap part", channel_id, first)


@get("/robots.txt", prefix="", listed=False)
async def get_robots(call: Call, pages: PublicPages) -> Reply:
    """What crawlers may look at, where they may look at something."""
    return await pages.show(call, actions.make_robots, "robots")


@get("/llms.txt", prefix="", listed=False)
async def get_llms(call: Call, pages: PublicPages) -> Reply:
    """What language models may read."""
    return await pages.show(call, actions.make_llms, "llms")


@get("/style/{digest}.css", prefix="/public", listed=False)
async def get_public_style(*, digest: str) -> Reply:
    """The style sheet of the pages, which never changes at its address."""
    name, body = style_sheet()
    if digest != name:
        raise not_found()
    return Reply(body, headers={"Cache-Control": "public, max-age=31536000, immutable"}, content_type="text/css")


def refuse(call: Call, refusal: Refusal) -> Reply:
    """What is said below the address of the pages: where one is missing, the same to everybody and for whatever reason."""
    language = language_for(call.header("accept-language"), "en")
    html = plain_page(language, None if refusal.status == MISSING else refusal.msg)
    headers = {**HEADERS, "Vary": "Accept-Language", **(refusal.headers or {})}
    return Reply(html.encode(), refusal.status, headers, HTML)
