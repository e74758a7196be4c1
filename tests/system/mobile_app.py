"""What the mobile app of this protocol family insists on, as types (contract/clients.md 5 to 7).

The app decodes strictly: one missing or misshapen field and it rejects the whole answer, or reloads everything after an
event. It cannot be run here, so these types stand for it. They are about what the app reads and nothing else; that nothing
else is sent is checked elsewhere (tests/schemas.py).
"""

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


class Timestamps(Struct, frozen=True, kw_only=True):
    active_timestamp: int = 0
    idle_timestamp: int = 0


class Settings(Struct, frozen=True, kw_only=True):
    twenty_four_hour_time: bool
    starred_message_counts: bool
    display_emoji_reaction_users: bool
    presence_enabled: bool
    emojiset: Literal["google", "twitter", "text"]


class MutedUser(Struct, frozen=True, kw_only=True):
    id: int


class Recent(Struct, frozen=True, kw_only=True):
    user_ids: list[int]
    max_message_id: int


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


class Peer(Struct, frozen=True, kw_only=True):
    user_id: int
    email: str


class Details(Struct, frozen=True, kw_only=True):
    type: Literal["stream", "private"]
    mentioned: bool | None = None
    user_ids: list[int] | None = None
    stream_id: int | None = None
    topic: str | None = None


class ProfileChange(Struct, frozen=True, kw_only=True):
    id: int
    value: str | None
    rendered_value: str | None = None


class UserChange(Struct, frozen=True, kw_only=True):
    user_id: int
    full_name: str | Unset = UNSET
    avatar_url: str | Unset | None = UNSET
    avatar_version: int | Unset = UNSET
    timezone: str | Unset = UNSET
    bot_owner_id: int | Unset = UNSET
    role: Role | Unset = UNSET
    delivery_email: str | Unset | None = UNSET
    custom_profile_field: ProfileChange | Unset = UNSET
    new_email: str | Unset = UNSET
    is_active: bool | Unset = UNSET


class Gone(Struct, frozen=True, kw_only=True):
    stream_id: int


def _event(**fields: Any) -> type[msgspec.Struct]:
    kinds = [(name, *kind) if isinstance(kind, tuple) else (name, kind) for name, kind in fields.items()]
    return msgspec.defstruct("Event", [("id", int), ("type", str), *kinds], kw_only=True)


def _maybe(kind: Any) -> tuple[Any, Any]:
    return kind | Unset, UNSET


_group_members = _event(group_id=int, user_ids=list[int])
_subgroups = _event(group_id=int, direct_subgroup_ids=list[int])
_peers = _event(stream_ids=list[int], user_ids=list[int])
_flags = {"flag": Flag, "messages": list[int], "all": bool}
EVENTS: dict[str, type[msgspec.Struct]] = {
    "alert_words": _event(alert_words=list[str]),
    "channel_folder add": _event(channel_folder=Folder),
    "channel_folder reorder": _event(order=list[int]),
    "channel_folder update": _event(channel_folder_id=int, data=Json),
    "custom_profile_fields": _event(fields=list[ProfileField]),
    "delete_message": _event(
        message_ids=list[int], message_type=Literal["stream", "private"], stream_id=_maybe(int), topic=_maybe(str)
    ),
    "heartbeat": _event(),
    "message": _event(message=Message, flags=list[Flag], local_message_id=_maybe(str)),
    "muted_users": _event(muted_users=list[MutedUser]),
    "presence": _event(user_id=int, server_timestamp=float, presence=dict[str, Json]),
    "reaction add": _event(
        user_id=int, emoji_name=str, emoji_code=str, reaction_type=EmojiType, message_id=int, user=Peer
    ),
    "realm_emoji update": _event(realm_emoji=dict[Digits, Emoji]),
    "realm_user add": _event(person=User),
    "realm_user remove": _event(person=msgspec.defstruct("UserId", [("user_id", int)])),
    "realm_user update": _event(person=UserChange),
    "saved_snippets add": _event(saved_snippet=Snippet),
    "saved_snippets update": _event(saved_snippet=Snippet),
    "saved_snippets remove": _event(saved_snippet_id=int),
    "stream create": _event(streams=list[Channel]),
    "stream delete": _event(streams=list[Gone], stream_ids=list[int]),
    "stream update": _event(stream_id=int, name=str, property=str, value=Any, rendered_description=_maybe(str)),
    "submessage": _event(msg_type=Literal["widget"], content=str, message_id=int, sender_id=int, submessage_id=int),
    "subscription add": _event(subscriptions=list[Subscription]),
    "subscription peer_add": _peers,
    "subscription peer_remove": _peers,
    "subscription remove": _event(subscriptions=list[Gone]),
    "subscription update": _event(stream_id=int, property=str, value=bool | str | None),
    "typing start": _event(
        message_type=Literal["direct", "stream"],
        sender=Peer,
        recipients=_maybe(list[Peer]),
        stream_id=_maybe(int),
        topic=_maybe(str),
    ),
    "update_message": _event(
        rendering_only=bool,
        message_id=int,
        message_ids=list[int],
        flags=list[Flag],
        edit_timestamp=int,
        user_id=int | None,
        stream_id=_maybe(int),
        new_stream_id=_maybe(int),
        propagate_mode=_maybe(Literal["change_one", "change_later", "change_all"]),
        orig_subject=_maybe(str),
        subject=_maybe(str),
        content=_maybe(str),
        rendered_content=_maybe(str),
        is_me_message=_maybe(bool),
    ),
    "update_message_flags add": _event(**_flags),
    "update_message_flags remove": _event(**_flags, message_details=_maybe(dict[Digits, Details])),
    "user_group add": _event(group=UserGroup),
    "user_group add_members": _group_members,
    "user_group add_subgroups": _subgroups,
    "user_group remove": _event(group_id=int),
    "user_group remove_members": _group_members,
    "user_group remove_subgroups": _subgroups,
    "user_group update": _event(group_id=int, data=Json),
    "user_settings update": _event(property=str, value=bool | int | str),
    "user_status": msgspec.defstruct(
        "Event", [("id", int), ("user_id", int)], bases=(Status,), kw_only=True, frozen=True
    ),
    "user_topic": _event(stream_id=int, topic_name=str, last_updated=int, visibility_policy=Literal[0, 1, 2, 3]),
}
EVENTS |= {"reaction remove": EVENTS["reaction add"], "typing stop": EVENTS["typing start"]}
_OTHER = _event(op=_maybe(str))
"""An event the app does not read still needs a number, a type and, if there is an op, a text for it."""


class Rejected(AssertionError):
    """What the app would not take."""


def check(value: Json, kind: type[msgspec.Struct]) -> None:
    """Decode as the app does."""
    try:
        msgspec.convert(value, kind, strict=True)
    except msgspec.ValidationError as problem:
        raise Rejected(f"{problem}: {str(value)[:2000]}") from problem


def check_event(event: Json) -> str:
    """Decode an event; its type and op."""
    kind = " ".join(filter(None, (event.get("type"), event.get("op"))))
    check(event, EVENTS.get(kind, _OTHER))
    moves = {"orig_subject", "propagate_mode"} & event.keys()
    if event["type"] == "update_message":
        is_move = bool({"subject", "new_stream_id"} & event.keys())
        if (
            bool(moves) != is_move
            or (is_move and len(moves) < 2)
            or ("rendered_content" in event and "is_me_message" not in event)
        ):
            raise Rejected(f"neither a move nor an edit: {event}")
    if kind == "update_message_flags remove" and event["flag"] == "read" and "message_details" not in event:
        raise Rejected(f"no details: {event}")
    return kind
