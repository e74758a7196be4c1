"""What the notification bot says in a channel that was changed, where the organization wants that."""

from tertulia.content.markup.writing import Bold, Mention, Part, Quotation, Text
from tertulia.conversations.channels.changing.rules import privacy_of
from tertulia.conversations.channels.model import ChannelRecord
from tertulia.conversations.channels.notices import CHANNEL_EVENTS
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.organization.notices import Notice, tell
from tertulia.organization.realms.settings import settings_of


async def say_changed(tx: Transaction, caller: Caller, before: ChannelRecord, after: ChannelRecord) -> None:
    """Say what is different about name, description and privacy."""
    who = Mention(caller.user_id, caller.full_name)
    said: list[Text] = []
    if after.name != before.name:
        said.append((who, " renamed this channel from ", Bold(before.name), " to ", Bold(after.name), "."))
    if after.description != before.description:
        was, is_now = _quote(before.description), _quote(after.description)
        said.append((who, " changed the description of this channel. Before: ", was, "Now: ", is_now))
    if privacy_of(after) != privacy_of(before):
        was, is_now = Bold(privacy_of(before).name), Bold(privacy_of(after).name)
        said.append((who, " changed who can see this channel, from ", was, " to ", is_now, "."))
    await say(tx, caller, after, said)


async def say_archived(tx: Transaction, caller: Caller, channel: ChannelRecord) -> None:
    """Say that the channel is out of use, or back."""
    what = " archived this channel." if channel.is_archived else " unarchived this channel."
    await say(tx, caller, channel, [(Mention(caller.user_id, caller.full_name), what)])


async def say(tx: Transaction, caller: Caller, channel: ChannelRecord, said: list[Text]) -> None:
    """Let the bot say this in the channel, if the organization wants to read such things."""
    if not settings_of(caller).send_channel_events_messages:
        return
    topic = "" if channel.topics_policy == "empty_topic_only" else CHANNEL_EVENTS
    me = caller.user_id
    notices = [Notice(text, channel_id=channel.stream_id, topic=topic, read_by=me, seen_by=me) for text in said]
    await tell(tx, caller.realm_id, notices)


def _quote(description: str) -> Part:
    return Quotation(description) if description else "none. "
