"""What clients see of channels and of their subscriptions."""

from typing import Literal

import msgspec
from msgspec import UNSET

from tertulia.conversations.channels.model import ChannelRecord, SubscriptionRecord
from tertulia.events.wire import Event, Unset
from tertulia.organization.groups.values import GroupValue


class StreamCreateEvent(Event, frozen=True, kw_only=True):
    """Channels were created, or became visible to you."""

    type: Literal["stream"]
    op: Literal["create"]
    streams: list[ChannelRecord]
    for_unarchiving: bool | Unset = UNSET


class GoneChannel(msgspec.Struct, frozen=True):
    """A channel by its ID alone."""

    stream_id: int


class StreamDeleteEvent(Event, frozen=True, kw_only=True):
    """Channels were deleted, or are no longer visible to you."""

    type: Literal["stream"]
    op: Literal["delete"]
    stream_ids: list[int]
    streams: list[GoneChannel]
    for_archiving: bool | Unset = UNSET


class StreamUpdateEvent(Event, frozen=True, kw_only=True):
    """A property of a channel changed."""

    type: Literal["stream"]
    op: Literal["update"]
    stream_id: int
    name: str
    property: str
    value: bool | int | str | GroupValue | None
    rendered_description: str | Unset = UNSET
    history_public_to_subscribers: bool | Unset = UNSET
    is_web_public: bool | Unset = UNSET


class SubscriptionAddEvent(Event, frozen=True, kw_only=True):
    """You were subscribed to channels."""

    type: Literal["subscription"]
    op: Literal["add"]
    subscriptions: list[SubscriptionRecord]


class LeftChannel(msgspec.Struct, frozen=True):
    """A channel that you are no longer subscribed to."""

    stream_id: int
    name: str


class SubscriptionRemoveEvent(Event, frozen=True, kw_only=True):
    """You are no longer subscribed to channels."""

    type: Literal["subscription"]
    op: Literal["remove"]
    subscriptions: list[LeftChannel]


class SubscriptionUpdateEvent(Event, frozen=True, kw_only=True):
    """A property of your own subscription changed."""

    type: Literal["subscription"]
    op: Literal["update"]
    stream_id: int
    property: str
    value: bool | str | None


class SubscriptionPeersEvent(Event, frozen=True, kw_only=True):
    """Other users were subscribed to channels (`peer_add`), or unsubscribed (`peer_remove`)."""

    type: Literal["subscription"]
    op: Literal["peer_add", "peer_remove"]
    stream_ids: list[int]
    user_ids: list[int]


class DefaultStreamsEvent(Event, frozen=True, kw_only=True):
    """The default channels changed: all channels that new users are subscribed to."""

    type: Literal["default_streams"]
    default_streams: list[int]


KEYS = {
    "subscriptions": list[SubscriptionRecord],
    "unsubscribed": list[SubscriptionRecord],
    "never_subscribed": list[ChannelRecord],
    "streams": list[ChannelRecord],
    "realm_default_streams": list[int],
}
