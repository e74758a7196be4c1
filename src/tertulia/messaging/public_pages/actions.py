"""Making public pages: who may look is asked first, each time one is made."""

import time
from collections.abc import Awaitable, Callable, Hashable
from datetime import UTC, datetime

from tertulia.kernel.call import Call
from tertulia.kernel.db import Database, Reader
from tertulia.kernel.errors import not_found
from tertulia.kernel.reply import Reply
from tertulia.kernel.settings import Settings
from tertulia.messaging.public_pages import queries
from tertulia.messaging.public_pages.cache import Page, PageCache
from tertulia.messaging.public_pages.feeds import ATOM, feed
from tertulia.messaging.public_pages.layout import HEADERS, HTML, channel_page, index_page, title_of, topic_page
from tertulia.messaging.public_pages.model import (
    PAGE_MESSAGES,
    PAGE_TOPICS,
    PART_TOPICS,
    PARTS_SECONDS,
    PublicChannel,
    PublicTopic,
    Site,
    Thread,
)
from tertulia.messaging.public_pages.sitemaps import PLAIN, XML, llms, robots, sitemap, sitemap_index
from tertulia.organization.realms.routes import find_realm_of, realm_url
from tertulia.organization.realms.web_access import is_open_to_web

Make = Callable[[Reader, Site], Awaitable[Page]]
NEWEST = 2**63 - 1
"""Before which all numbers are."""


class PublicPages:
    """The public pages of a process."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings
        self._cache = PageCache()
        self.parts = Parts()

    async def show(self, call: Call, make: Make, *key: Hashable) -> Reply:
        """The page that `make` makes at the caller's address; `key` tells it from the other pages of the organization."""

        async def made() -> Page:
            async with self._database.reader() as reader:
                return await make(reader, await get_site(call, reader, self._settings))

        # In development pages hold the address that they were asked for at (`realm_url`).
        host = call.header("host") if self._settings.development else call.subdomain
        return (await self._cache.get((host, *key), made)).answer(call)


async def get_site(call: Call, reader: Reader, settings: Settings) -> Site:
    """The organization at the caller's address, if the server and the organization are open to the web."""
    realm = await find_realm_of(call, reader)
    if realm is None or not realm.is_active or not is_open_to_web(settings, realm.settings):
        raise not_found()
    return Site(realm, realm_url(realm, call, settings))


async def make_index(reader: Reader, site: Site) -> Page:
    """The channels."""
    return _page(index_page(site, await queries.list_channels(reader, site.realm.id)))


async def make_channel(reader: Reader, site: Site, channel_id: int, before: int | None) -> Page:
    """The topics of a channel."""
    channel = await _get_channel(reader, site, channel_id)
    found, earlier = await queries.list_topics(reader, site.realm.id, channel_id, before or NEWEST, PAGE_TOPICS)
    if before is not None and not found and earlier is None:
        raise not_found()
    return _page(channel_page(site, channel, found, before, earlier))


async def make_topic(reader: Reader, site: Site, channel_id: int, topic_id: int, start: int | None) -> Page:
    """A page of a topic: the messages from `start` on."""
    channel = await _get_channel(reader, site, channel_id)
    topic = await _get_topic(reader, site, channel_id, topic_id)
    shown, following = await queries.messages_from(reader, site.realm.id, topic_id, start or 0, PAGE_MESSAGES)
    if not shown:
        raise not_found()
    # One more than a page has: only then does the page before this one begin with another message than the topic.
    before = await queries.ids_before(reader, topic_id, shown[0].id, PAGE_MESSAGES + 1) if start else []
    previous = f"{topic.path}?start={before[-2]}" if len(before) > PAGE_MESSAGES else topic.path
    first = (await queries.messages_from(reader, site.realm.id, topic_id, 0, 1))[0] if before else shown
    thread = Thread(
        channel=channel,
        topic=topic,
        title=title_of(site, topic.name),
        opening=first[0],
        messages=shown,
        start=shown[0].id if before else None,
        previous=previous if before else None,
        next=None if following is None else f"{topic.path}?start={following}",
    )
    return _page(topic_page(site, thread))


async def make_channel_feed(reader: Reader, site: Site, channel_id: int) -> Page:
    """The newest messages of a channel."""
    channel = await _get_channel(reader, site, channel_id)
    found = await queries.newest_of_channel(reader, site.realm.id, channel_id, PAGE_MESSAGES)
    entries = [(f"{one.author}: {title_of(site, one.topic_name)}", one) for one in found]
    title = f"#{channel.name} · {site.realm.name}"
    return _file(feed(site, channel.path, title, entries, _founded(site)), ATOM)


async def make_topic_feed(reader: Reader, site: Site, channel_id: int, topic_id: int) -> Page:
    """The newest messages of a topic."""
    channel = await _get_channel(reader, site, channel_id)
    topic = await _get_topic(reader, site, channel_id, topic_id)
    found = await queries.newest_of_topic(reader, site.realm.id, topic_id, PAGE_MESSAGES)
    title = f"{title_of(site, topic.name)} · #{channel.name} · {site.realm.name}"
    return _file(feed(site, topic.path, title, [(one.author, one) for one in found], _founded(site)), ATOM)


async def make_sitemap(reader: Reader, site: Site, parts: "Parts") -> Page:
    """All pages, or where the parts of that list are."""
    channels = await queries.list_channels(reader, site.realm.id)
    topics = await queries.list_all_topics(reader, site.realm.id, PART_TOPICS + 1)
    if len(topics) <= PART_TOPICS:
        return _file(sitemap(site, channels, topics), XML)
    still_open = {channel.id for channel in channels}
    return _file(sitemap_index(site, [one for one in await parts.of(reader, site) if one[0] in still_open]), XML)


class Parts:
    """Of the topics of each organization, as they were a while ago: numbers only. What is in a part is read when it is asked
    for."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[float, list[tuple[int, int]]]] = {}

    async def of(self, reader: Reader, site: Site) -> list[tuple[int, int]]:
        """The channel and the first topic of each part."""
        now = time.monotonic()
        self._known = {id: one for id, one in self._known.items() if now - one[0] < PARTS_SECONDS}
        if site.realm.id not in self._known:
            found = await queries.first_of_parts(reader, site.realm.id, PART_TOPICS)
            self._known[site.realm.id] = now, found
        return self._known[site.realm.id][1]


async def make_sitemap_of_channels(reader: Reader, site: Site) -> Page:
    """The part of the sitemap with the pages of channels."""
    return _file(sitemap(site, await queries.list_channels(reader, site.realm.id), []), XML)


async def make_sitemap_part(reader: Reader, site: Site, channel_id: int, first: int) -> Page:
    """The part of the sitemap that begins with this topic of a channel."""
    topics = await queries.topics_from(reader, site.realm.id, channel_id, first, PART_TOPICS)
    if not topics:
        raise not_found()
    return _file(sitemap(site, [], topics), XML)


async def make_robots(_reader: Reader, site: Site) -> Page:
    """What crawlers may look at."""
    return _file(robots(site), PLAIN)


async def make_llms(reader: Reader, site: Site) -> Page:
    """What language models may read."""
    return _file(llms(site, await queries.list_channels(reader, site.realm.id)), PLAIN)


async def place_of(reader: Reader, site: Site, message_id: int) -> str:
    """The page that begins with a message, wherever it is now."""
    found = await queries.find_place(reader, site.realm.id, message_id)
    if found is None:
        raise not_found()
    channel_id, topic_id = found
    return f"/public/channels/{channel_id}/topics/{topic_id}?start={message_id}#m{message_id}"


async def _get_channel(reader: Reader, site: Site, channel_id: int) -> PublicChannel:
    channel = await queries.find_channel(reader, site.realm.id, channel_id)
    if channel is None:
        raise not_found()
    return channel


async def _get_topic(reader: Reader, site: Site, channel_id: int, topic_id: int) -> PublicTopic:
    topic = await queries.find_topic(reader, site.realm.id, channel_id, topic_id)
    if topic is None:
        raise not_found()
    return topic


def _founded(site: Site) -> datetime:
    return datetime.fromtimestamp(site.realm.created, UTC)


def _page(html: str) -> Page:
    return Page(html.encode(), HTML, HEADERS)


def _file(text: str, content_type: str) -> Page:
    return Page(text.encode(), content_type, {})
