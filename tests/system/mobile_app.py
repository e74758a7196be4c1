"""What the mobile app of this protocol family insists on, as types.

The app decodes strictly: one missing or misshapen field and it rejects the whole answer, or reloads everything after an
event. It cannot be run here, so these types stand for it. They are about what the app reads and nothing else; that nothing
else is sent is checked elsewhere (tests/harness/schemas.py).
"""

from typing import Annotated, Literal

import msgspec

from tests.system.mobile_records import (
    Channel,
    Digits,
    Emoji,
    Folder,
    Group,
    Json,
    ListedMessage,
    MutedUser,
    ProfileField,
    Snippet,
    Status,
    Struct,
    Subscription,
    Url,
    User,
    UserGroup,
)


class Methods(Struct, frozen=True, kw_only=True):
    ldap: bool


class External(Struct, frozen=True, kw_only=True):
    name: str
    display_name: str
    display_icon: str | None
    login_url: str
    signup_url: str


class ServerSettings(Struct, frozen=True, kw_only=True):
    authentication_methods: Methods
    external_authentication_methods: list[External]
    zulip_feature_level: Annotated[int, msgspec.Meta(ge=371, le=467)]
    zulip_version: str
    zulip_merge_base: str
    push_notifications_enabled: bool
    is_incompatible: bool
    email_auth_enabled: bool
    require_email_format_usernames: bool
    realm_uri: Url
    realm_name: str
    realm_icon: str
    realm_description: str
    realm_web_public_access_enabled: bool


class UnreadDirect(Struct, frozen=True, kw_only=True):
    other_user_id: int
    sender_id: int
    unread_message_ids: list[int]


class UnreadChannel(Struct, frozen=True, kw_only=True):
    stream_id: int
    topic: str
    unread_message_ids: list[int]


class UnreadGroup(Struct, frozen=True, kw_only=True):
    user_ids_string: Annotated[str, msgspec.Meta(pattern=r"^[0-9]+(,[0-9]+)+$")]
    unread_message_ids: list[int]


class Unread(Struct, frozen=True, kw_only=True):
    count: int
    pms: list[UnreadDirect]
    streams: list[UnreadChannel]
    huddles: list[UnreadGroup]
    mentions: list[int]
    old_unreads_missing: bool


class UserTopic(Struct, frozen=True, kw_only=True):
    stream_id: int
    topic_name: str
    last_updated: int
    visibility_policy: Literal[1, 2, 3]


class Timestamps(Struct, frozen=True, kw_only=True):
    active_timestamp: int = 0
    idle_timestamp: int = 0


class Settings(Struct, frozen=True, kw_only=True):
    twenty_four_hour_time: bool
    starred_message_counts: bool
    display_emoji_reaction_users: bool
    presence_enabled: bool
    emojiset: Literal["google", "twitter", "text"]


class Recent(Struct, frozen=True, kw_only=True):
    user_ids: list[int]
    max_message_id: int


class Account(Struct, frozen=True, kw_only=True):
    name: str
    text: str
    hint: str
    url_pattern: str


class Named(Struct, frozen=True, kw_only=True):
    key: str
    name: str


class Snapshot(Struct, frozen=True, kw_only=True):
    """The answer of POST /register."""

    queue_id: str
    last_event_id: int
    zulip_version: str
    zulip_feature_level: Annotated[int, msgspec.Meta(ge=371, le=467)]
    zulip_merge_base: str
    max_message_id: int
    user_id: int
    email: str
    full_name: str
    alert_words: list[str]
    custom_profile_fields: list[ProfileField]
    channel_folders: list[Folder]
    muted_users: list[MutedUser]
    presences: dict[Digits, Timestamps]
    realm_emoji: dict[Digits, Emoji]
    realm_user_groups: list[UserGroup]
    recent_private_conversations: list[Recent]
    saved_snippets: list[Snippet]
    starred_messages: list[int]
    streams: list[Channel]
    subscriptions: list[Subscription]
    unread_msgs: Unread
    user_settings: Settings
    user_status: dict[Digits, Status]
    user_topics: list[UserTopic]
    realm_users: list[User]
    realm_non_active_users: list[User]
    cross_realm_bots: list[User]
    realm_name: str
    realm_icon_url: str
    realm_message_retention_days: int
    realm_allow_message_editing: bool
    realm_message_content_edit_limit_seconds: int | None
    realm_message_content_delete_limit_seconds: int | None
    realm_enable_read_receipts: bool
    realm_presence_disabled: bool
    realm_wildcard_mention_policy: Literal[1, 2, 3, 5, 6, 7]
    realm_waiting_period_threshold: int
    realm_default_external_accounts: dict[str, Account]
    realm_can_delete_any_message_group: Group
    realm_can_delete_own_message_group: Group
    realm_topics_policy: str
    realm_mandatory_topics: bool
    realm_moderation_request_channel_id: int
    realm_empty_topic_display_name: str
    max_file_upload_size_mib: int
    max_stream_name_length: int
    max_topic_length: int
    event_queue_longpoll_timeout_seconds: int
    server_emoji_data_url: Url
    server_presence_ping_interval_seconds: int
    server_presence_offline_threshold_seconds: int
    server_typing_started_expiry_period_milliseconds: int
    server_typing_stopped_wait_period_milliseconds: int
    server_typing_started_wait_period_milliseconds: int
    server_thumbnail_formats: list[Json]
    server_report_message_types: list[Named]
    devices: dict[str, Json]

    def __post_init__(self) -> None:
        if self.user_id not in {user.user_id for user in self.realm_users}:
            raise ValueError("oneself is not among the users")
        unread = self.unread_msgs
        lists = [one.unread_message_ids for one in unread.pms] + [one.unread_message_ids for one in unread.streams]
        for ids in (*lists, *(one.unread_message_ids for one in unread.huddles)):
            if ids != sorted(ids):
                raise ValueError("unread messages are not in their order")


class Messages(Struct, frozen=True, kw_only=True):
    """The answer of GET /messages."""

    messages: list[ListedMessage]
    anchor: int
    found_newest: bool
    found_oldest: bool
    found_anchor: bool
    history_limited: bool


class OneMessage(Struct, frozen=True, kw_only=True):
    """The answer of GET /messages/{message_id}."""

    message: ListedMessage
    raw_content: str


class Rejected(AssertionError):
    """What the app would not take."""


def check(value: Json, kind: type[msgspec.Struct]) -> None:
    """Decode as the app does."""
    try:
        msgspec.convert(value, kind, strict=True)
    except msgspec.ValidationError as problem:
        raise Rejected(f"{problem}: {str(value)[:2000]}") from problem
