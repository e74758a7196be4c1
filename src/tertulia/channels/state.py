"""The channels' part of POST /register."""

from typing import Any

import msgspec

from tertulia.channels import queries
from tertulia.events.ranges import SeqSet
from tertulia.events.register import Wanted, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings


@provider("subscription")
async def subscriptions(reader: Reader, caller: Caller, wanted: Wanted, _settings: Settings) -> dict[str, Any]:
    """The caller's channels in three lists: subscribed, left, and never joined."""
    own = await queries.subscriptions_of(reader, caller.user_id)
    subscribed = [channel for channel, is_active in own if is_active and not channel.is_archived]
    left = [
        channel
        for channel, is_active in own
        if not is_active
        and not channel.is_archived
        and (channel.is_web_public or not (channel.invite_only or caller.is_guest))
    ]
    if wanted.include_subscribers != "false":
        members = await queries.subscribers_of(reader, [channel.stream_id for channel in subscribed])
        subscribed = [
            msgspec.structs.replace(channel, subscribers=members.get(channel.stream_id, [])) for channel in subscribed
        ]
    never = await queries.never_subscribed(reader, caller.realm_id, caller.user_id, is_guest=caller.is_guest)
    return {"subscriptions": subscribed, "unsubscribed": left, "never_subscribed": never}


async def memberships(reader: Reader, user_id: int) -> dict[int, SeqSet]:
    """The channels a user is or was in, with the numbers of the messages that are theirs."""
    sql = """
    select conversation_id, history from read_state join channel on channel.id = conversation_id where user_id = $1
    """
    return {row["conversation_id"]: SeqSet(row["history"]) for row in await reader.fetch(sql, user_id)}
