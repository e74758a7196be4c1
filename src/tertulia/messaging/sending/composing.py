"""From what somebody wrote to what is stored and told of it: HTML, mentions, links, alert words, a widget.

Most messages name nobody: they are rendered without a statement. Names in a text are looked up together in one; what
only a mention of a group or of everybody needs is asked for after rendering, when it is known that there is one.
"""

import re

import msgspec

from tertulia.content.markup import (
    Channel,
    Context,
    Rendered,
    TooLarge,
    TopicLink,
    WantedNames,
    find_widget,
    render,
    topic_links,
    wanted,
)
from tertulia.content.markup.typography import EMOTICONS
from tertulia.conversations.channels.queries import readable_by_name
from tertulia.conversations.read_state.marks import Facts
from tertulia.files.uploads.links.actions import Attached
from tertulia.files.uploads.showing import find_uploads
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Database
from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings
from tertulia.kernel.text import name_key_of
from tertulia.messaging.mentions.names import Names, ResolvedNames
from tertulia.messaging.mentions.queries import crowd_of, members_hearing, newest_in_topics
from tertulia.messaging.mentions.rules import check_crowd, group_not_mentionable
from tertulia.messaging.mentions.vocabulary import Vocabularies
from tertulia.messaging.sending.model import Composed, Place
from tertulia.messaging.sending.rendering_time import RenderingTime
from tertulia.messaging.sending.word_costs import check_words
from tertulia.organization.realms.settings import notes_of, settings_of
from tertulia.people.users.visibility.actions import hidden_from

_EMOTICON = re.compile("|".join(map(re.escape, EMOTICONS)))


class ReadAs(msgspec.Struct, frozen=True):
    """As whom a text is read that its author did not write all of: names in it stand for what that person sees."""

    looking: Caller
    hidden: frozenset[int] = frozenset()
    """People named in it whom they do not see."""
    shown: frozenset[int] = frozenset()
    """People whom they see in this text, whoever they are."""
    is_ours: bool = False
    """Whether all of it was written by this server, some time ago: whom it names may have another name by now."""


class Composer:
    """Renders texts as their authors see the world, or as somebody else does whom they are made for."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings
        self._names = Names(database)
        self._vocabularies = Vocabularies(database)
        self._time = RenderingTime()

    async def compose(
        self,
        author: Caller,
        place: Place,
        content: str,
        *,
        is_checked: bool = True,
        counts_crowd: bool = True,
        read_as: ReadAs | None = None,
    ) -> Composed:
        """The text as it will be stored; refuses mentions that the author may not make, unless nobody asks.

        `counts_crowd`: also those of too many people at once, which takes a question to the database.
        """
        rendered, named, links, files = await self._render(author, content, place.topic, read_as, is_counted=is_checked)
        if is_checked:
            await check_words(self._database, rendered.html)
            if counts_crowd:
                await self._check_wildcards(author, place, rendered)
            for group in named.groups:
                if group.id in rendered.mentioned_group_ids and group.id in named.forbidden:
                    raise group_not_mentionable(group.name)
        widget = find_widget(content) if content.startswith("/") else None
        has_words = notes_of(author).has_alert_words
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
            rendered.remote,
            rendered.pages,
        )

    async def render(self, author: Caller, content: str) -> str:
        """A text as HTML, and nothing else. Pictures from elsewhere are links: nobody fetches them for a text that is not
        sent, and our address of one would tell whether others have named it.
        """
        return (await self._render(author, content, None, None, is_counted=True, shows_remote=False))[0].html

    async def links_of(self, author: Caller, topic: str) -> tuple[TopicLink, ...]:
        """The links in a topic's name."""
        return topic_links(topic, (await self._vocabularies.of(author)).linkifiers)

    async def _render(
        self,
        author: Caller,
        content: str,
        topic: str | None,
        read_as: ReadAs | None,
        *,
        is_counted: bool,
        shows_remote: bool = True,
    ) -> tuple[Rendered, ResolvedNames, tuple[TopicLink, ...], dict[str, Attached]]:
        names = wanted(content)
        vocabulary = await self._vocabularies.of(author)
        looking = read_as.looking if read_as else author
        named = await self._find_names(author, content, names, read_as or ReadAs(author))
        channels, topics = await self._find_channels(looking, names) if names.channel_names else ((), {})
        uploads, files = await find_uploads(self._database, author, names.upload_paths)
        settings = settings_of(author)
        context = Context(
            realm_id=author.realm_id,
            realm_url=self._settings.url_of(author.subdomain),
            picture_key=notes_of(author).picture_key if shows_remote else "",
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
            is_old=read_as is not None and read_as.is_ours,
        )
        rendered = self._render_in_time(author, content, context) if is_counted else _render(content, context)
        return rendered, named, topic_links(topic, vocabulary.linkifiers) if topic else (), files

    def _render_in_time(self, author: Caller, content: str, context: Context) -> Rendered:
        with self._time.of(author.person_id) as seconds:
            if seconds < context.highlighting_seconds:
                context = msgspec.structs.replace(context, highlighting_seconds=seconds)
            return _render(content, context)

    async def _find_names(self, author: Caller, content: str, names: WantedNames, read_as: ReadAs) -> ResolvedNames:
        asks_author = _EMOTICON.search(content) is not None
        named = await self._names.find(author.realm_id, author.user_id, names, asks_sender=asks_author)
        if not (named.people and read_as.looking.is_guest):
            return named
        async with self._database.reader() as reader:
            hidden = await hidden_from(reader, read_as.looking, [person.id for person in named.people])
        seen = tuple(person for person in named.people if person.id not in hidden - read_as.shown)
        return msgspec.structs.replace(named, people=seen)

    async def _find_channels(
        self, author: Caller, names: WantedNames
    ) -> tuple[tuple[Channel, ...], dict[tuple[int, str], int]]:
        # Not by the look-up that all senders share: a text names as many as it has room for, in its author's own time.
        async with self._database.reader() as reader:
            found = await readable_by_name(reader, author.realm_id, author.user_id, list(names.channel_names))
            readable = {name_key_of(name): Channel(id, name) for id, name in found}
            asked = [
                (readable[key].id, name_key_of(topic))
                for name, topic in names.topics
                if (key := name_key_of(name)) in readable
            ]
            newest = await newest_in_topics(reader, author.user_id, asked) if asked else {}
        return tuple(readable.values()), newest

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


def _render(content: str, context: Context) -> Rendered:
    try:
        return render(content, context)
    except TooLarge as error:
        raise Refusal("The message is too long once it is rendered.") from error


def facts_of(rendered: Rendered) -> int:
    """What a message mentions and contains, as it is stored."""
    bits = {
        Facts.CHANNEL_WILDCARD: rendered.mentions_channel,
        Facts.TOPIC_WILDCARD: rendered.mentions_topic,
        Facts.LINK: rendered.has_link,
        Facts.IMAGE: rendered.has_image,
        Facts.ATTACHMENT: rendered.has_attachment,
    }
    return sum(bit for bit, is_set in bits.items() if is_set)
