"""What the notification bot says in a channel that was changed, where the organization wants that."""

from tertulia.content.markup.writing import Bold, Mention, Quotation, Text, worded
from tertulia.conversations.channels.changing.rules import privacy_of
from tertulia.conversations.channels.model import ChannelRecord
from tertulia.conversations.channels.words import Words, words_of
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.organization.notices import Notice, tell
from tertulia.organization.realms.settings import settings_of


async def say_changed(tx: Transaction, caller: Caller, before: ChannelRecord, after: ChannelRecord) -> None:
    """Say what is different about name, description and privacy."""
    words, who = _words(caller), Mention(caller.user_id, caller.full_name)
    said: list[Text] = []
    if after.name != before.name:
        said.append(worded(words.renamed, who=who, old=Bold(before.name), new=Bold(after.name)))
    if after.description != before.description:
        was, is_now = (Quotation(text) if text else words.none for text in (before.description, after.description))
        said.append((*worded(words.description_changed, who=who, old=was), *worded(words.description_now, new=is_now)))
    if privacy_of(after) != privacy_of(before):
        old, new = (Bold(words.kinds[privacy_of(channel).kind]) for channel in (before, after))
        said.append(worded(words.privacy_changed, who=who, old=old, new=new))
    await say(tx, caller, after, said)


async def say_archived(tx: Transaction, caller: Caller, channel: ChannelRecord) -> None:
    """Say that the channel is out of use, or back."""
    what = _words(caller).archived if channel.is_archived else _words(caller).unarchived
    await say(tx, caller, channel, [worded(what, who=Mention(caller.user_id, caller.full_name))])


async def say(tx: Transaction, caller: Caller, channel: ChannelRecord, said: list[Text]) -> None:
    """Let the bot say this in the channel, if the organization wants to read such things."""
    if not settings_of(caller).send_channel_events_messages:
        return
    topic = "" if channel.topics_policy == "empty_topic_only" else _words(caller).channel_events
    me = caller.user_id
    notices = [Notice(text, channel_id=channel.stream_id, topic=topic, read_by=me, seen_by=me) for text in said]
    await tell(tx, caller.realm_id, notices)


def _words(caller: Caller) -> Words:
    return words_of(settings_of(caller).default_language)
