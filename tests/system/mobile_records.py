"""The records that the mobile app reads (mobile_app.py), in the state at registration and in events alike."""

from typing import Annotated, Any, Literal

import msgspec

Json = dict[str, Any]

Url = Annotated[str, msgspec.Meta(pattern=r"^https?://[^/]+")]
Color = Annotated[str, msgspec.Meta(pattern=r"^#[0-9a-f]{6}$")]
Digits = Annotated[str, msgspec.Meta(pattern=r"^[0-9]+$")]
Role = Literal[100, 200, 300, 400, 600]
EmojiType = Literal["unicode_emoji", "realm_emoji", "zulip_extra_emoji"]
Group = int | dict[str, list[int]]
Flag = Literal[
    "read",
    "starred",
    "collapsed",
    "mentioned",
    "stream_wildcard_mentioned",
    "topic_wildcard_mentioned",
    "wildcard_mentioned",
    "group_mentioned",
    "has_alert_word",
    "historical",
]
Unset = msgspec.UnsetType
UNSET = msgspec.UNSET


class Struct(msgspec.Struct, frozen=True, kw_only=True):
    """Keys the app does not read may be there."""


class ProfileValue(Struct, frozen=True, kw_only=True):
    value: str
    rendered_value: str | None = None


class User(Struct, frozen=True, kw_only=True):
    user_id: int
    delivery_email: str | None
    email: str
    full_name: str
    date_joined: str
    is_bot: bool
    role: Role
    timezone: str
    avatar_url: str | None
    avatar_version: int
    bot_type: Literal[1, 2, 3, 4] | None = None
    bot_owner_id: int | None = None
    profile_data: dict[Digits, ProfileValue] | None = None
    is_system_bot: bool = False


class Channel(Struct, frozen=True, kw_only=True):
    stream_id: int
    name: str
    is_archived: bool
    description: str
    rendered_description: str
    date_created: int
    first_message_id: int | None
    folder_id: int | None
    invite_only: bool
    is_web_public: bool
    history_public_to_subscribers: bool
    message_retention_days: int | None
    stream_post_policy: Literal[1, 2, 3, 4]
    can_add_subscribers_group: Group
    can_delete_any_message_group: Group
    can_delete_own_message_group: Group
    can_send_message_group: Group
    can_subscribe_group: Group
    stream_weekly_traffic: int | None


class Subscription(Channel, frozen=True, kw_only=True):
    color: Color
    is_muted: bool
    pin_to_top: bool
    desktop_notifications: bool | None
    audible_notifications: bool | None
    push_notifications: bool | None
    email_notifications: bool | None
    wildcard_mentions_notify: bool | None


class UserGroup(Struct, frozen=True, kw_only=True):
    id: int
    name: str
    description: str
    members: list[int]
    direct_subgroup_ids: list[int]
    is_system_group: bool
    deactivated: bool


class Emoji(Struct, frozen=True, kw_only=True):
    id: Digits
    name: str
    source_url: str
    still_url: str | None
    deactivated: bool
    author_id: int | None


class ProfileField(Struct, frozen=True, kw_only=True):
    id: int
    type: Literal[1, 2, 3, 4, 5, 6, 7, 8]
    order: int
    name: str
    hint: str
    field_data: str


class MutedUser(Struct, frozen=True, kw_only=True):
    id: int


class Status(Struct, frozen=True, kw_only=True):
    """The three of an emoji come together, or not at all."""

    away: bool | None = None
    status_text: str | None = None
    emoji_name: str | None = None
    emoji_code: str | None = None
    reaction_type: EmojiType | None = None

    def __post_init__(self) -> None:
        if len({value is None for value in (self.emoji_name, self.emoji_code, self.reaction_type)}) > 1:
            raise ValueError("half an emoji")


class Snippet(Struct, frozen=True, kw_only=True):
    id: int
    title: str
    content: str
    date_created: int


class Folder(Struct, frozen=True, kw_only=True):
    id: int
    name: str
    description: str
    rendered_description: str
    order: int
    is_archived: bool


class Recipient(Struct, frozen=True, kw_only=True):
    id: int
    email: str
    full_name: str
    is_mirror_dummy: bool


class Reaction(Struct, frozen=True, kw_only=True):
    emoji_name: str
    emoji_code: str
    reaction_type: EmojiType
    user_id: int


class Submessage(Struct, frozen=True, kw_only=True):
    msg_type: Literal["widget"]
    content: str
    sender_id: int


class Message(Struct, frozen=True, kw_only=True):
    id: int
    type: Literal["stream", "private"]
    content: str
    content_type: Literal["text/html"]
    timestamp: int
    client: str
    sender_id: int
    sender_email: str
    sender_full_name: str
    sender_realm_str: str
    subject: str
    display_recipient: str | list[Recipient]
    is_me_message: bool
    reactions: list[Reaction]
    submessages: list[Submessage]
    topic_links: list[Json]
    avatar_url: str | None
    stream_id: int | Unset = UNSET
    last_edit_timestamp: int | None = None
    edit_history: list[Json] | Unset = UNSET

    def __post_init__(self) -> None:
        is_channel = self.type == "stream"
        if is_channel != isinstance(self.display_recipient, str) or is_channel != (self.stream_id is not UNSET):
            raise ValueError("neither a channel's message nor a direct one")
        if self.edit_history == [] or (not is_channel and self.subject):
            raise ValueError("an empty history, or a topic where there is none")


class ListedMessage(Message, frozen=True, kw_only=True):
    flags: list[Flag]
