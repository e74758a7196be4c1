"""Channels: what the rules need to know of one, and the channel and subscription records of the API."""

import msgspec

from tertulia.organization.groups.values import GroupValue

PALETTE = (
    *("#6c8ebf", "#82b366", "#d79b00", "#b85450", "#9673a6", "#d6b656", "#3f9aa8", "#c27ba0"),
    *("#4f81bd", "#7f9f3f", "#e07b39", "#8e5ea2", "#2e8b7a", "#c0504d", "#5b7db1", "#a88f3c"),
    *("#5c9e9e", "#b5739d", "#7ea6e0", "#97b545", "#cc8d5b", "#8a79c7", "#4c9f70", "#9aa0a6"),
)
"""The colours new subscriptions get, in this order."""


class ChannelRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A channel as the API shows it; the base of the subscription record."""

    stream_id: int
    name: str
    description: str
    rendered_description: str
    date_created: int
    creator_id: int | None
    invite_only: bool
    is_web_public: bool
    history_public_to_subscribers: bool
    is_archived: bool
    is_recently_active: bool
    first_message_id: int | None
    message_retention_days: int | None
    topics_policy: str
    folder_id: int | None
    subscriber_count: int
    stream_weekly_traffic: int | None
    stream_post_policy: int | msgspec.UnsetType = msgspec.UNSET
    is_announcement_only: bool | msgspec.UnsetType = msgspec.UNSET
    can_add_subscribers_group: GroupValue
    can_administer_channel_group: GroupValue
    can_create_topic_group: GroupValue
    can_delete_any_message_group: GroupValue
    can_delete_own_message_group: GroupValue
    can_move_messages_out_of_channel_group: GroupValue
    can_move_messages_within_channel_group: GroupValue
    can_remove_subscribers_group: GroupValue
    can_resolve_topics_group: GroupValue
    can_send_message_group: GroupValue
    can_subscribe_group: GroupValue
    subscribers: list[int] | msgspec.UnsetType = msgspec.UNSET
    partial_subscribers: list[int] | msgspec.UnsetType = msgspec.UNSET
    is_default: bool | msgspec.UnsetType = msgspec.UNSET


class Personal(msgspec.Struct, frozen=True, kw_only=True):
    """What a subscriber set for themselves in a channel."""

    channel_id: int
    color: str
    is_muted: bool
    pin_to_top: bool
    desktop_notifications: bool | None
    audible_notifications: bool | None
    push_notifications: bool | None
    email_notifications: bool | None
    wildcard_mentions_notify: bool | None


class SubscriptionRecord(ChannelRecord, frozen=True, kw_only=True):
    """A channel with what one subscriber set for themselves."""

    color: str
    is_muted: bool
    in_home_view: bool | msgspec.UnsetType = msgspec.UNSET
    email_address: str | msgspec.UnsetType = msgspec.UNSET
    pin_to_top: bool
    desktop_notifications: bool | None
    audible_notifications: bool | None
    push_notifications: bool | None
    email_notifications: bool | None
    wildcard_mentions_notify: bool | None


class Channel(msgspec.Struct, frozen=True, kw_only=True):
    """What the rules need to know of a channel, and what it is to one user (rights.py) at that moment."""

    id: int
    realm_id: int
    name: str
    invite_only: bool
    is_web_public: bool
    is_archived: bool
    history_public_to_subscribers: bool
    topics_policy: str
    is_subscribed: bool
    may_read: bool
    """Content access. With protected history (`history_public_to_subscribers` false) only to what the user received."""
    may_see: bool
    """Metadata access."""
    may_post: bool
    """Whether the user is among those whom the channel's settings let send."""
    may_send: bool
    """Whether the user may send: may post, has access, and the channel is not archived."""
    may_create_topic: bool

    @property
    def is_public(self) -> bool:
        """Open to every member."""
        return not self.invite_only


class RuledChannel(Channel, frozen=True, kw_only=True):
    """A channel with everything a user may do in it, and who holds its settings."""

    description: str
    creator_id: int | None
    message_retention_days: int | None
    folder_id: int | None
    subscriber_count: int
    is_guest: bool
    is_administrator: bool
    """Of the organization, at that moment."""
    granted: frozenset[str]
    """The settings of the channel that name the user; guests hold only what guests may hold."""
    may_add_by_realm: bool
    holders: dict[str, int]
    """The group that holds each setting."""

    @property
    def may_administer(self) -> bool:
        """Change settings, archive, remove subscribers."""
        return self.is_administrator or "can_administer_channel_group" in self.granted

    @property
    def may_add_subscribers(self) -> bool:
        """Subscribe others."""
        by_channel = self.may_administer or "can_add_subscribers_group" in self.granted
        return self.may_read and (by_channel or self.may_add_by_realm)

    @property
    def may_remove_subscribers(self) -> bool:
        """Unsubscribe others."""
        return self.may_administer or (self.may_see and "can_remove_subscribers_group" in self.granted)

    @property
    def may_see_subscribers(self) -> bool:
        """Know who is subscribed. Guests know it where they are subscribed themselves."""
        return self.is_subscribed if self.is_guest else self.may_see
