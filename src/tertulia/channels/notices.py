"""What the notification bot says about new channels and subscriptions (contract/channels.md 2.6)."""

from collections.abc import Iterable

from tertulia.channels.actions.subscribing import Done
from tertulia.channels.creation import NewChannel, Wish
from tertulia.channels.queries import topics_policy_of
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.notices import Notice, tell
from tertulia.realms.settings import RealmSettings, decode_settings

MAX_TOLD = 100
"""More people than this are not told one by one that somebody subscribed them."""
NEW_CHANNELS = "new channels"
CHANNEL_EVENTS = "channel events"


async def tell_created(
    tx: Transaction, caller: Caller, done: Done, new: NewChannel, wishes: Iterable[Wish], *, announce: bool
) -> None:
    """Say in the announcement channel, if wanted, and in the new channels themselves, that they are there."""
    settings = decode_settings(caller.realm_settings)
    notices = await _announcement(tx, caller, done, settings) if announce and not new.invite_only else []
    if settings.send_channel_events_messages:
        described = {wish.name.strip(): wish.description for wish in wishes}
        for channel_id, name in done.created.items():
            content = creation_text(caller, new, described.get(name, ""))
            topic = "" if new.topics_policy == "empty_topic_only" else CHANNEL_EVENTS
            notices.append(Notice(content=content, channel_id=channel_id, topic=topic, read_by=caller.user_id))
    await tell(tx, caller.realm_id, notices)


async def tell_subscribed(tx: Transaction, caller: Caller, done: Done) -> None:
    """Tell people that somebody else subscribed them to channels that were there before."""
    notices = []
    for person in done.people:
        names = [name for channel, name in done.existing.items() if (person.id, channel) in done.joined]
        if names and person.id != caller.user_id and not person.is_bot:
            notices.append(Notice(content=subscribed_text(caller, names), user_id=person.id, read_by=caller.user_id))
    await tell(tx, caller.realm_id, notices)


def creation_text(caller: Caller, new: NewChannel, description: str) -> str:
    """The first words in a new channel."""
    if new.is_web_public:
        kind = "Web-public"
    elif not new.invite_only:
        kind = "Public"
    else:
        kind = "Private, shared history" if new.shares_history else "Private, protected history"
    said = f"{_mention(caller)} made this channel. **{kind}**."
    return f"{said} Description:\n```` quote\n{description}\n````" if description else f"{said} It has no description."


def subscribed_text(caller: Caller, names: list[str]) -> str:
    """What somebody reads whom another one subscribed."""
    if len(names) == 1:
        return f"{_mention(caller)} subscribed you to the channel #**{names[0]}**."
    return f"{_mention(caller)} subscribed you to these channels:\n" + "\n".join(f"* #**{name}**" for name in names)


async def _announcement(tx: Transaction, caller: Caller, done: Done, settings: RealmSettings) -> list[Notice]:
    place = settings.new_stream_announcements_stream_id
    if place == -1 or not done.created:
        return []
    policy = await topics_policy_of(tx, place)
    if policy is None:
        return []
    links = [f"#**{name}**" for name in done.created.values()]
    if len(links) == 1:
        content = f"{_mention(caller)} made a new channel: {links[0]}."
    else:
        content = f"{_mention(caller)} made new channels: {', '.join(links[:-1])} and {links[-1]}."
    topic = "" if policy == "empty_topic_only" else NEW_CHANNELS
    return [Notice(content=content, channel_id=place, topic=topic, read_by=caller.user_id)]


def _mention(caller: Caller) -> str:
    return f"@_**{caller.full_name}|{caller.user_id}**"
