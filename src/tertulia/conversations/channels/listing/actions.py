"""Lists of channels and subscriptions for one reader, in a number of statements that does not depend on their length."""

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from tertulia.conversations.channels.model import ChannelRecord, SubscriptionRecord
from tertulia.conversations.channels.records import bots_in, selected_records, subscribers_as_json, subscriptions_of
from tertulia.conversations.channels.rights import IS_SUBSCRIBED, MAY_READ, MAY_SEE, NOT_GUEST, subscribed
from tertulia.conversations.channels.statements import default_channels
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader

FULL_LISTS_UP_TO = 250
"""With include_subscribers=partial: channels with more subscribers list only their bots, and clients ask for the rest."""

_Record = TypeVar("_Record", bound=ChannelRecord)


class Filters(msgspec.Struct, frozen=True):
    """Which channels are wanted: all that one of the sources has."""

    public: bool
    web_public: bool
    subscribed: bool
    everything: bool
    readable: bool
    owner_subscribed: bool
    archived: bool

    @property
    def condition(self) -> str:
        """As a condition on the reader's account and a channel."""
        sources = [
            (self.everything, MAY_SEE),
            (self.public, f"(not channel.invite_only and {NOT_GUEST})"),
            (self.web_public, "channel.is_web_public"),
            (self.subscribed, IS_SUBSCRIBED),
            (self.readable, MAY_READ),
            (self.owner_subscribed, f"({subscribed('account.bot_owner_id')} and {MAY_SEE})"),
        ]
        chosen = " or ".join(source for is_wanted, source in sources if is_wanted) or "false"
        return f"({chosen})" if self.archived else f"({chosen}) and not channel.is_archived"


async def listed_channels(
    reader: Reader, caller: Caller, filters: Filters, *, mark_defaults: bool
) -> list[ChannelRecord]:
    """The channels the filters find, by name."""
    found = await selected_records(reader, filters.condition, caller.user_id)
    if not mark_defaults:
        return found
    defaults = set(await default_channels(reader, caller.realm_id))
    return [msgspec.structs.replace(channel, is_default=channel.stream_id in defaults) for channel in found]


async def own_subscriptions(reader: Reader, caller: Caller, include_subscribers: str) -> list[SubscriptionRecord]:
    """The reader's subscriptions by the channel's name, without archived channels."""
    own = await subscriptions_of(reader, caller.user_id)
    found = [one.record for one in own if one.is_active and not one.record.is_archived]
    return await with_subscribers(reader, found, include_subscribers)


async def with_subscribers(reader: Reader, channels: Sequence[_Record], include: str) -> list[_Record]:
    """The same channels with their subscribers, if they are asked for. `partial`: of large ones only the bots."""
    if include == "false" or not channels:
        return list(channels)
    is_full = {
        channel.stream_id: include == "true" or channel.subscriber_count <= FULL_LISTS_UP_TO for channel in channels
    }
    full = await subscribers_as_json(reader, [number for number, full in is_full.items() if full])
    large = [number for number, full in is_full.items() if not full]
    bots = await bots_in(reader, large) if large else {}
    return [
        msgspec.structs.replace(channel, subscribers=full.get(channel.stream_id, []))
        if is_full[channel.stream_id]
        else msgspec.structs.replace(channel, partial_subscribers=bots.get(channel.stream_id, []))
        for channel in channels
    ]
