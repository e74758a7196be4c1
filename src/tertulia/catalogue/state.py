"""The answer of POST /register: each key with its type. Which of them are there depends on what is fetched."""

from typing import Any, get_type_hints

import msgspec
from msgspec import UNSET

from tertulia.bots.model import Bot
from tertulia.catalogue.base import Unset
from tertulia.catalogue.people import OldPresence
from tertulia.channels.model import ChannelRecord, SubscriptionRecord
from tertulia.custom_emoji.model import EmojiRecord
from tertulia.drafts.model import Draft
from tertulia.folders.model import Folder
from tertulia.groups.model import GroupRecord
from tertulia.groups.settings import REALM_SETTINGS
from tertulia.groups.values import GroupValue
from tertulia.linkifiers.model import LinkifierRecord
from tertulia.mutes.model import MutedUser
from tertulia.playgrounds.queries import Playground
from tertulia.preferences.model import DisplaySettings, NotificationSettings, UserSettings
from tertulia.profiles.model import ProfileField
from tertulia.reads.unread import UnreadMessages
from tertulia.realms.domains import RealmDomain
from tertulia.realms.published import ORGANIZATION, SERVER
from tertulia.realms.settings import RealmSettings
from tertulia.reminders.model import ReminderRecord
from tertulia.scheduled.model import ScheduledRecord
from tertulia.snippets.model import Snippet
from tertulia.topics.model import MutedTopic, UserTopic
from tertulia.uploads.sizes import ThumbnailFormat
from tertulia.users.model import UserRecord


class RecentConversation(msgspec.Struct, frozen=True):
    """A direct conversation: the others in it, and its newest message."""

    user_ids: list[int]
    max_message_id: int


class ShownStatus(msgspec.Struct, frozen=True, kw_only=True):
    """A status: only what is set."""

    away: bool | Unset = UNSET
    status_text: str | Unset = UNSET
    emoji_name: str | Unset = UNSET
    emoji_code: str | Unset = UNSET
    reaction_type: str | Unset = UNSET


class SystemBot(UserRecord, frozen=True, kw_only=True, omit_defaults=True):
    """An account of the server itself."""

    is_system_bot: bool


class Named(msgspec.Struct, frozen=True):
    """A kind of something, with its number."""

    id: int
    name: str


class Choice(msgspec.Struct, frozen=True):
    """Something to choose, as it is sent and as it is called."""

    key: str
    text: str


class Reason(msgspec.Struct, frozen=True):
    """Why a message is reported."""

    key: str
    name: str


class LoginMethod(msgspec.Struct, frozen=True, kw_only=True):
    """A way to log in."""

    enabled: bool
    available: bool
    unavailable_reason: str | Unset = UNSET


class ExternalAccount(msgspec.Struct, frozen=True):
    """A place where people have accounts."""

    name: str
    text: str
    hint: str
    url_pattern: str


class PermissionRule(msgspec.Struct, frozen=True):
    """Which groups a permission may name."""

    require_system_group: bool
    allow_internet_group: bool
    allow_nobody_group: bool
    allow_everyone_group: bool
    default_group_name: str
    default_for_system_groups: str | None
    allowed_system_groups: list[str]


class PermissionRules(msgspec.Struct, frozen=True):
    """All permissions: of the organization, of channels, of groups."""

    realm: dict[str, PermissionRule]
    stream: dict[str, PermissionRule]
    group: dict[str, PermissionRule]


class Integration(msgspec.Struct, frozen=True):
    """A service that can post."""

    name: str
    display_name: str
    all_event_types: list[str] | None
    config_options: list[dict[str, Any]]
    url_options: list[dict[str, Any]]


class Billing(msgspec.Struct, frozen=True):
    """Nothing is sold here."""

    has_pending_sponsorship_request: bool


class View(msgspec.Struct, frozen=True):
    """A view that somebody pinned."""

    fragment: str
    is_pinned: bool
    name: str | None


class Step(msgspec.Struct, frozen=True):
    """Something to show to newcomers."""

    type: str
    name: str


class ChannelBundle(msgspec.Struct, frozen=True):
    """Channels that are offered together."""

    id: int
    name: str
    description: str
    streams: list[int]


def _all_of(struct: type[msgspec.Struct]) -> dict[str, Any]:
    return {name: hint for name, hint in get_type_hints(struct, include_extras=True).items() if name[0] != "_"}


_CHOICES = {"emojiset_choices": list[Choice], "available_notification_sounds": list[str]}
OwnSettings = msgspec.defstruct("OwnSettings", [*(_all_of(UserSettings) | _CHOICES | {"timezone": str}).items()])
DefaultSettings = msgspec.defstruct("DefaultSettings", [*(_all_of(UserSettings) | _CHOICES).items()])

_Number, _Words = dict[str, Named], list[str]
_PLAIN: dict[type, Any] = {bool: bool, int: int, str: str}
_SPECIAL: dict[str, Any] = {
    "gif_rating_policy_options": _Number,
    "server_jitsi_server_url": str | None,
    "server_max_deactivated_realm_deletion_days": int | None,
    "server_report_message_types": list[Reason],
    "available_video_chat_providers": _Number,
    "jitsi_server_url": str | None,
    "push_notifications_enabled_end_timestamp": int | None,
}
_SERVER = {name: _SPECIAL.get(name) or _PLAIN[type(value)] for name, value in SERVER.items()} | {
    "server_supported_permission_settings": PermissionRules,
    "development_environment": bool,
    "server_emoji_data_url": str,
    "server_web_public_streams_enabled": bool,
    "jitsi_server_url": str | None,
    "max_file_upload_size_mib": int,
    "server_thumbnail_formats": list[ThumbnailFormat],
}
_ORGANIZATION = {
    **_all_of(RealmSettings),
    **{name: _SPECIAL.get(name) or _PLAIN[type(value)] for name, value in ORGANIZATION.items()},
    **dict.fromkeys(REALM_SETTINGS, GroupValue),
    **dict.fromkeys(("name", "description", "url", "uri", "uuid", "icon_url", "logo_url", "night_logo_url"), str),
    **dict.fromkeys(("icon_source", "logo_source", "night_logo_source", "bot_domain"), str),
    **dict.fromkeys(("email_auth_enabled", "mandatory_topics", "allow_edit_history"), bool),
    **dict.fromkeys(("create_public_stream_policy", "create_private_stream_policy"), int),
    **dict.fromkeys(("create_web_public_stream_policy", "wildcard_mention_policy", "date_created"), int),
    "authentication_methods": dict[str, LoginMethod],
    "default_external_accounts": dict[str, ExternalAccount],
    "zulip_update_announcements_stream_id": int,
    "upload_quota_mib": int | None,
}
_KEYS: dict[str, Any] = {
    "last_event_id": int,
    "idle_queue_timeout_secs": int,
    **dict.fromkeys(("zulip_version", "zulip_merge_base"), str),
    "zulip_feature_level": int,
    "zulip_plan_is_not_limited": bool,
    # One's own
    "alert_words": _Words,
    "devices": dict[str, dict[str, Any]],
    "drafts": list[Draft],
    **dict.fromkeys(("giphy_api_key", "tenor_api_key", "klipy_api_key"), str),
    **dict.fromkeys(("has_zoom_token", "has_webex_token"), bool),
    "max_message_id": int,
    "muted_topics": list[MutedTopic],
    "muted_users": list[MutedUser],
    "navigation_views": list[View],
    "navigation_tour_video_url": str | None,
    "onboarding_steps": list[Step],
    "recent_private_conversations": list[RecentConversation],
    "reminders": list[ReminderRecord],
    "saved_snippets": list[Snippet],
    "scheduled_messages": list[ScheduledRecord],
    "starred_messages": list[int],
    "stop_words": _Words,
    "unread_msgs": UnreadMessages,
    "user_settings": OwnSettings,
    "user_topics": list[UserTopic],
    # People
    "avatar_source": str,
    "avatar_url": str | None,
    "avatar_url_medium": str | None,
    **dict.fromkeys(("can_create_streams", "can_create_public_streams", "can_create_private_streams"), bool),
    **dict.fromkeys(("can_create_web_public_streams", "can_invite_others_to_realm"), bool),
    **dict.fromkeys(("is_admin", "is_owner", "is_moderator", "is_guest"), bool),
    "user_id": int,
    **dict.fromkeys(("email", "delivery_email", "full_name"), str),
    "realm_users": list[UserRecord],
    "realm_non_active_users": list[UserRecord],
    "cross_realm_bots": list[SystemBot],
    # With slim_presence the timestamps by name, else presences by client
    "presences": dict[str, dict[str, int | OldPresence]],
    "presence_last_update_id": int,
    "server_timestamp": float,
    "user_status": dict[str, ShownStatus],
    "realm_bots": list[Bot],
    "realm_embedded_bots": _Words,
    "realm_incoming_webhook_bots": list[Integration],
    "realm_user_groups": list[GroupRecord],
    "custom_profile_fields": list[ProfileField],
    "custom_profile_field_types": _Number,
    # Channels
    "subscriptions": list[SubscriptionRecord],
    "unsubscribed": list[SubscriptionRecord],
    "never_subscribed": list[ChannelRecord],
    "streams": list[ChannelRecord],
    "channel_folders": list[Folder],
    "realm_default_streams": list[int],
    "realm_default_stream_groups": list[ChannelBundle],
    # The organization
    "realm_billing": Billing,
    "realm_domains": list[RealmDomain],
    "realm_emoji": dict[str, EmojiRecord],
    "realm_filters": list[list[Any]],
    "realm_linkifiers": list[LinkifierRecord],
    "realm_playgrounds": list[Playground],
    "realm_user_settings_defaults": DefaultSettings,
    **_SERVER,
    **{f"realm_{name}": kind for name, kind in _ORGANIZATION.items()},
    # At the top for clients that fetch the settings by their older types
    **_all_of(DisplaySettings),
    **_all_of(NotificationSettings),
}

InitialState = msgspec.defstruct(
    "InitialState",
    [
        ("queue_id", str | None),
        ("service_version", str),
        ("service_merge_base", str),
        ("service_feature_level", int),
        *((name, kind | Unset, UNSET) for name, kind in _KEYS.items()),
    ],
    kw_only=True,
)
"""`queue_id` is null for readers without an account, who get no queue."""
InitialState.__doc__ = "The answer of POST /register; which keys are there depends on what is fetched."
