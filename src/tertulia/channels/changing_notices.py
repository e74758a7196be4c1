"""What the notification bot says in a channel that was changed, where the organization wants that."""

from tertulia.channels.changing_rules import privacy_of
from tertulia.channels.model import ChannelRecord
from tertulia.channels.notices import CHANNEL_EVENTS
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.notices import Notice, tell
from tertulia.realms.settings import decode_settings


async def say_changed(tx: Transaction, caller: Caller, before: ChannelRecord, after: ChannelRecord) -> None:
    """Say what is different about name, description and privacy."""
    who = f"@_**{caller.full_name}|{caller.user_id}**"
    said = []
    if after.name != before.name:
        said.append(f"{who} renamed this channel from **{before.name}** to **{after.name}**.")
    if after.description != before.description:
        said.append(
            f"{who} changed the description of this channel.\n\n* Before:\n{_quote(before.description)}\n"
            f"* Now:\n{_quote(after.description)}"
        )
    if privacy_of(after) != privacy_of(before):
        kinds = f"from **{privacy_of(before).name}** to **{privacy_of(after).name}**"
        said.append(f"{who} changed who can see this channel, {kinds}.")
    await say(tx, caller, after, said)


async def say_archived(tx: Transaction, caller: Caller, channel: ChannelRecord) -> None:
    """Say that the channel is out of use, or back."""
    what = "archived" if channel.is_archived else "unarchived"
    await say(tx, caller, channel, [f"@_**{caller.full_name}|{caller.user_id}** {what} this channel."])


async def say(tx: Transaction, caller: Caller, channel: ChannelRecord, said: list[str]) -> None:
    """Let the bot say this in the channel, if the organization wants to read such things."""
    if not decode_settings(caller.realm_settings).send_channel_events_messages:
        return
    topic = "" if channel.topics_policy == "empty_topic_only" else CHANNEL_EVENTS
    notices = [Notice(content=text, channel_id=channel.stream_id, topic=topic, read_by=caller.user_id) for text in said]
    await tell(tx, caller.realm_id, notices)


def _quote(description: str) -> str:
    return f"```` quote\n{description}\n````" if description else "*none*"
