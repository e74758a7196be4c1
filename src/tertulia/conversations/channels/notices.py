"""What the notification bot says about new channels and subscriptions."""

from collections.abc import Iterable

from tertulia.content.markup.writing import Bold, Bullet, ChannelLink, Inline, Mention, Quotation, Text, worded
from tertulia.conversations.channels.actions.subscribing import Done
from tertulia.conversations.channels.creation import ChannelRequest, NewChannel
from tertulia.conversations.channels.queries import topics_policy_of
from tertulia.conversations.channels.words import Words, kind_of, words_of
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.organization.notices import Notice, may_tell, tell
from tertulia.organization.notices.queries import languages_of
from tertulia.organization.realms.settings import RealmSettings, settings_of

MAX_TOLD = 100
"""More people than this are not told one by one that somebody subscribed them."""
MAX_LISTED = 50
"""Of more channels than this at once the first ones are named: a text has to fit into a message."""


async def tell_created(
    tx: Transaction, caller: Caller, done: Done, new: NewChannel, requests: Iterable[ChannelRequest], *, announce: bool
) -> None:
    """Say in the announcement channel, if wanted, and in the new channels themselves, that they are there."""
    settings = settings_of(caller)
    words = words_of(settings.default_language)
    notices = await _announcement(tx, caller, done, settings) if announce and not new.invite_only else []
    if settings.send_channel_events_messages:
        described = {request.name.strip(): request.description for request in requests}
        for channel_id, name in done.created.items():
            text, me = creation_text(words, caller, new, described.get(name, "")), caller.user_id
            topic = "" if new.topics_policy == "empty_topic_only" else words.channel_events
            notices.append(Notice(text, channel_id=channel_id, topic=topic, read_by=me, seen_by=me))
    await tell(tx, caller.realm_id, notices)


async def tell_subscribed(tx: Transaction, caller: Caller, done: Done) -> bool:
    """Tell people that somebody else subscribed them to channels that were there before; whether they are told one by one."""
    if len({user_id for user_id, _ in done.joined}) > MAX_TOLD or (done.existing and not await may_tell(tx, caller)):
        return False
    notices = []
    told = [person.id for person in done.people if person.id != caller.user_id and not person.is_bot]
    languages = await languages_of(tx, told) if done.existing and told else {}
    for person in done.people:
        links = [
            ChannelLink(channel, name) for channel, name in done.existing.items() if (person.id, channel) in done.joined
        ]
        if links and person.id in languages:
            text = subscribed_text(words_of(languages[person.id]), caller, links)
            notices.append(Notice(text, user_id=person.id, read_by=caller.user_id))
    await tell(tx, caller.realm_id, notices)
    return True


def creation_text(words: Words, caller: Caller, new: NewChannel, description: str) -> Text:
    """The first words in a new channel."""
    kind = words.kinds[kind_of(is_web_public=new.is_web_public, is_private=new.invite_only, shares=new.shares_history)]
    said = worded(words.created, who=_mention(caller), kind=Bold(kind))
    return (*said, words.description, Quotation(description)) if description else (*said, words.no_description)


def subscribed_text(words: Words, caller: Caller, links: list[ChannelLink]) -> Text:
    """What somebody reads whom another one subscribed."""
    if len(links) == 1:
        return worded(words.subscribed, who=_mention(caller), channel=links[0])
    listed = [Bullet((link,)) for link in links[:MAX_LISTED]]
    more: Text = () if len(links) <= MAX_LISTED else (Bullet((words.and_more,)),)
    return (*worded(words.subscribed_several, who=_mention(caller)), *listed, *more)


async def _announcement(tx: Transaction, caller: Caller, done: Done, settings: RealmSettings) -> list[Notice]:
    place = settings.new_stream_announcements_stream_id
    if place == -1 or not done.created:
        return []
    policy = await topics_policy_of(tx, place)
    if policy is None:
        return []
    links = [ChannelLink(channel, name) for channel, name in done.created.items()][:MAX_LISTED]
    words = words_of(settings.default_language)
    more: Text = (f" {words.and_more}",) if len(done.created) > MAX_LISTED else ()
    said = words.announced if len(done.created) == 1 else words.announced_several
    text = worded(said, who=_mention(caller), channels=(*_enumerated(words, links), *more))
    topic = "" if policy == "empty_topic_only" else words.new_channels
    return [Notice(text, channel_id=place, topic=topic, read_by=caller.user_id)]


def _enumerated(words: Words, links: list[ChannelLink]) -> list[Inline]:
    """One, two and three."""
    last = len(links) - 1
    said: list[Inline] = []
    for place, link in enumerate(links):
        said += [link] if place == 0 else [words.list_and if place == last else words.list_comma, link]
    return said


def _mention(caller: Caller) -> Mention:
    return Mention(caller.user_id, caller.full_name)
