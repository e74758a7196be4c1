"""Channel and subscription records of the API."""

import msgspec

PALETTE = (
    *("#6c8ebf", "#82b366", "#d79b00", "#b85450", "#9673a6", "#d6b656", "#3f9aa8", "#c27ba0"),
    *("#4f81bd", "#7f9f3f", "#e07b39", "#8e5ea2", "#2e8b7a", "#c0504d", "#5b7db1", "#a88f3c"),
)


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
    stream_post_policy: int
    is_announcement_only: bool
    can_add_subscribers_group: int
    can_administer_channel_group: int
    can_create_topic_group: int
    can_delete_any_message_group: int
    can_delete_own_message_group: int
    can_move_messages_out_of_channel_group: int
    can_move_messages_within_channel_group: int
    can_remove_subscribers_group: int
    can_resolve_topics_group: int
    can_send_message_group: int
    can_subscribe_group: int


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
    in_home_view: bool
    pin_to_top: bool
    desktop_notifications: bool | None
    audible_notifications: bool | None
    push_notifications: bool | None
    email_notifications: bool | None
    wildcard_mentions_notify: bool | None
    subscribers: list[int] | msgspec.UnsetType = msgspec.UNSET


class Channel(msgspec.Struct, frozen=True):
    """What the rules need to know of a channel, and of one user in it."""

    id: int
    name: str
    invite_only: bool
    is_web_public: bool
    is_archived: bool
    history_public_to_subscribers: bool
    topics_policy: str
    is_subscribed: bool
    may_post: bool
    """Whether the user is among those whom the channel's settings let send."""

    @property
    def is_public(self) -> bool:
        """Open to every member."""
        return not self.invite_only


def color_for(channel_id: int) -> str:
    """The colour a new subscription starts with."""
    return PALETTE[channel_id % len(PALETTE)]


def subscription_record(channel: ChannelRecord, personal: Personal) -> SubscriptionRecord:
    """The two halves of a subscription record, put together."""
    values = msgspec.structs.asdict(channel) | msgspec.structs.asdict(personal)
    del values["channel_id"]
    return SubscriptionRecord(**values, in_home_view=not personal.is_muted)
