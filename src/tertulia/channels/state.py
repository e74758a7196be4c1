"""The channels' part of POST /register."""

from typing import Any

import msgspec

from tertulia.channels.records import selected_records, subscribers_of, subscriptions_of
from tertulia.channels.rights import MAY_SEE
from tertulia.events.ranges import SeqSet
from tertulia.events.register import Wanted, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings

_NEVER = f"""
{MAY_SEE} and (not channel.is_archived or $2)
and not exists (select from subscription as past where past.user_id = account.id and past.channel_id = channel.id)
"""


@provider("subscription")
async def subscriptions(reader: Reader, caller: Caller, wanted: Wanted, _settings: Settings) -> dict[str, Any]:
    """The caller's channels in three lists: subscribed, left, and never joined."""
    archived_too = wanted.options.capabilities.archived_channels
    own = [one for one in await subscriptions_of(reader, caller.user_id) if archived_too or not one.record.is_archived]
    subscribed = [one.record for one in own if one.is_active]
    left = [one.record for one in own if not one.is_active and one.may_see]
    never = await selected_records(reader, _NEVER, caller.user_id, archived_too)
    if wanted.include_subscribers != "false":
        members = await subscribers_of(reader, [channel.stream_id for channel in subscribed])
        subscribed = [
            msgspec.structs.replace(channel, subscribers=members.get(channel.stream_id, [])) for channel in subscribed
        ]
    return {"subscriptions": subscribed, "unsubscribed": left, "never_subscribed": never}


async def memberships(reader: Reader, user_id: int) -> dict[int, SeqSet]:
    """The channels a user is or was in, with the numbers of the messages that are theirs."""
    sql = """
    select conversation_id, history from read_state join channel on channel.id = conversation_id where user_id = $1
    """
    return {row["conversation_id"]: SeqSet(row["history"]) for row in await reader.fetch(sql, user_id)}
