"""From what somebody wrote to what is stored and told of it: HTML, mentions, links, alert words, a widget.

Most messages name nobody: they are rendered without a statement. Names in a text are looked up together in one; what
only a mention of a group or of everybody needs is asked for after rendering, when it is known that there is one.
"""

import asyncio
import re

import msgspec

from tertulia.channels.access import ChannelFinder
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Database
from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings
from tertulia.kernel.text import name_key_of
from tertulia.markup import (
    Channel,
    Context,
    Rendered,
    TooLarge,
    TopicLink,
    Wanted,
    find_widget,
    render,
    topic_links,
    wanted,
)
from tertulia.markup.typography import EMOTICONS
from tertulia.messages.mentions.names import Named, Names
from tertulia.messages.mentions.queries import crowd_of, members_hearing, newest_in_topics
from tertulia.messages.mentions.vocabulary import Vocabularies, notes_of
from tertulia.messages.places import Place
from tertulia.messages.rules import check_crowd, group_not_mentionable
from tertulia.messages.statements import CHANNEL_WILDCARD, HAS_ATTACHMENT, HAS_IMAGE, HAS_LINK, TOPIC_WILDCARD
from tertulia.realms.settings import decode_settings
from tertulia.uploads.links import Attached
from tertulia.uploads.showing import find_uploads
from tertulia.users.visibility import hidden_from

_EMOTICON = re.compile("|".join(map(re.escape, EMOTICONS)))


class Composed(msgspec.Struct, frozen=True):
    """A text, rendered, with all that follows from it."""

    content: str
    html: str
    facts: int = 0
    mentioned: tuple[int, ...] = ()
    groups: tuple[int, ...] = ()
    group_mentioned: tuple[int, ...] = ()
    """Those who are in one of the groups."""
    alerting: tuple[str, ...] = ()
    topic_links: tuple[TopicLink, ...] = ()
    widget: str | None = None
    webhooks: tuple[int, ...] = ()
    """Those of the mentioned who are outgoing-webhook bots."""
    attached: tuple[Attached, ...] = ()
    """Files that it links and that its author may share."""


class Composer:
    """Renders texts as their authors see the world."""

    def __init__(self, database: Database, channels: ChannelFinder, settings: Settings) -> None:
        self._database = database
        self._channels = channels
        self._settings = settings
        self._names = Names(database)
        self._vocabularies = Vocabularies(database)

    async def compose(self, author: Caller, place: Place, content: str, *, is_checked: bool = True) -> Composed:
        """The text as it will be stored; refuses mentions that the author may not make, unless nobody asks."""
        rendered, named, links, files = await self._render(author, content, place.topic)
        if is_checked:
            await self._check_wildcards(author, place, rendered)
            for group in named.groups:
                if group.id in rendered.mentioned_group_ids and group.id in named.forbidden:
                    raise group_not_mentionable(group.name)
        widget = find_widget(content) if content.startswith("/") else None
        has_words = notes_of(author.realm_settings).has_alert_words
        return Composed(
            content,
            rendered.html,
            facts_of(rendered),
            tuple(sorted(rendered.mentioned_user_ids)),
            tuple(sorted(rendered.mentioned_group_ids)),
            await self._members(place, rendered) if rendered.mentioned_group_ids else (),
            await self._names.alert_words(author.realm_id, content) if has_words else (),
            links,
            None if widget is None else widget.as_json(),
            tuple(sorted(rendered.mentioned_user_ids & named.webhooks)),
            tuple(sorted(files[path] for path in rendered.attachment_paths)),
        )

    async def render(self, author: Caller, content: str) -> str:
        """A text as HTML, and nothing else."""
        return (await self._render(author, content, None))[0].html

    async def links_of(self, author: Caller, topic: str) -> tuple[TopicLink, ...]:
        """The links in a topic's name."""
        return topic_links(topic, (await self._vocabularies.of(author)).linkifiers)

    async def _render(
        self, author: Caller, content: str, topic: str | None
    ) -> tuple[Rendered, Named, tuple[TopicLink, ...], dict[str, Attached]]:
        names = wanted(content)
        vocabulary = await self._vocabularies.of(author)
        named = await self._find_names(author, content, names)
        channels, topics = await self._find_channels(author, names) if names.channel_names else ((), {})
        uploads, files = await find_uploads(self._database, author, names.upload_paths)
        settings = decode_settings(author.realm_settings)
        context = Context(
            realm_url=self._settings.url_of(author.subdomain),
            people=named.people,
            groups=named.groups,
            channels=channels,
            topics=topics,
            custom_emoji=vocabulary.emoji,
            linkifiers=vocabulary.linkifiers,
            uploads=uploads,
            default_code_language=settings.default_code_block_language,
            translate_emoticons=named.translates_emoticons,
            previews_images=settings.inline_image_preview,
            empty_topic_name=settings.empty_topic_display_name,
        )
        try:
            rendered = render(content, context)
        except TooLarge as error:
            raise Refusal("The message is too long once it is rendered.") from error
        return rendered, named, topic_links(topic, vocabulary.linkifiers) if topic else (), files

    async def _find_names(self, author: Caller, content: str, names: Wanted) -> Named:
        asks_author = _EMOTICON.search(content) is not None
        named = await self._names.find(author.realm_id, author.user_id, names, asks_sender=asks_author)
        if not (named.people and author.is_guest):
            return named
        async with self._database.reader() as reader:
            hidden = await hidden_from(reader, author, [person.id for person in named.people])
        seen = tuple(person for person in named.people if person.id not in hidden)
        return msgspec.structs.replace(named, people=seen)

    async def _find_channels(
        self, author: Caller, names: Wanted
    ) -> tuple[tuple[Channel, ...], dict[tuple[int, str], int]]:
        found = await asyncio.gather(*(self._channels.find(author, name) for name in sorted(names.channel_names)))
        readable = {name_key_of(one.name): Channel(one.id, one.name) for one in found if one and one.may_read}
        asked = [
            (readable[key].id, name_key_of(topic))
            for name, topic in names.topics
            if (key := name_key_of(name)) in readable
        ]
        if not asked:
            return tuple(readable.values()), {}
        async with self._database.reader() as reader:
            return tuple(readable.values()), await newest_in_topics(reader, author.user_id, asked)

    async def _check_wildcards(self, author: Caller, place: Place, rendered: Rendered) -> None:
        if not place.is_channel or not (rendered.mentions_channel or rendered.mentions_topic):
            return
        async with self._database.reader() as reader:
            crowd = await crowd_of(reader, author.user_id, place.conversation_id, place.topic_key or "")
        check_crowd(crowd, channel=rendered.mentions_channel, topic=rendered.mentions_topic)

    async def _members(self, place: Place, rendered: Rendered) -> tuple[int, ...]:
        channel_id = place.conversation_id if place.is_channel else None
        participants = [person.id for person in place.people]
        async with self._database.reader() as reader:
            return await members_hearing(reader, sorted(rendered.mentioned_group_ids), channel_id, participants)


def facts_of(rendered: Rendered) -> int:
    """What a message mentions and contains, as it is stored."""
    bits = {
        CHANNEL_WILDCARD: rendered.mentions_channel,
        TOPIC_WILDCARD: rendered.mentions_topic,
        HAS_LINK: rendered.has_link,
        HAS_IMAGE: rendered.has_image,
        HAS_ATTACHMENT: rendered.has_attachment,
    }
    return sum(bit for bit, is_set in bits.items() if is_set)
