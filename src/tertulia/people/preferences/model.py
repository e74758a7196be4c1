"""All settings of a user with their types and defaults. The endpoint's parameters and the state are made of these classes."""

from enum import IntEnum
from typing import Annotated, Literal

import msgspec

FontSize = Annotated[int, msgspec.Meta(ge=8, le=64)]
LineHeight = Annotated[int, msgspec.Meta(ge=80, le=300)]
Seconds = Annotated[int, msgspec.Meta(ge=1, le=7 * 86_400)]
Language = Annotated[str, msgspec.Meta(max_length=50)]
Days = Annotated[int, msgspec.Meta(ge=0, le=127, description="Days as bits: Monday is 1, Tuesday 2, Sunday 64.")]
Minute = Annotated[int, msgspec.Meta(ge=0, lt=1440, description="Minutes after midnight, in the user's time zone.")]
Timestamp = Annotated[int, msgspec.Meta(ge=0, le=2**32, description="Seconds of the Unix epoch; 0: never.")]
Sound = Annotated[str, msgspec.Meta(max_length=20)]


class TopicTrigger(IntEnum):
    """What one does in a topic to follow or unmute it automatically; each includes those with larger numbers but `NEVER`."""

    PARTICIPATION = 1
    SENDING = 2
    STARTING = 3
    NEVER = 4


class DisplaySettings(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """How things look."""

    color_scheme: Literal[1, 2, 3] = 1
    default_language: Language = "en"
    demote_inactive_streams: Literal[1, 2, 3] = 1
    display_emoji_reaction_users: bool = True
    emojiset: Literal["google", "twitter", "text"] = "google"
    enter_sends: bool = False
    fluid_layout_width: bool = False
    hide_ai_features: bool = False
    high_contrast_mode: bool = False
    left_side_userlist: bool = False
    resolved_topic_notice_auto_read_policy: Literal["always", "except_followed", "never"] = "except_followed"
    starred_message_counts: bool = True
    translate_emoticons: bool = False
    twenty_four_hour_time: bool = False
    user_list_style: Literal[1, 2, 3] = 3
    web_animate_image_previews: Literal["always", "on_hover", "never"] = "on_hover"
    web_channel_default_view: Literal[1, 2, 3, 4] = 1
    web_escape_navigates_to_home_view: bool = True
    web_font_size_px: FontSize = 16
    web_home_view: Literal["inbox", "recent_topics", "all_messages"] = "inbox"
    web_inbox_show_channel_folders: bool = True
    web_left_sidebar_show_channel_folders: bool = True
    web_left_sidebar_unreads_count_summary: bool = True
    web_line_height_percent: LineHeight = 140
    web_mark_read_on_scroll_policy: Literal[1, 2, 3] = 1
    web_navigate_to_sent_message: bool = True
    web_stream_unreads_count_display_policy: Literal[1, 2, 3] = 2
    web_suggest_update_timezone: bool = True


class NotificationSettings(DisplaySettings, frozen=True, omit_defaults=True, kw_only=True):
    """When the service calls."""

    automatically_follow_topics_policy: Literal[1, 2, 3, 4] = TopicTrigger.STARTING.value
    automatically_follow_topics_where_mentioned: bool = True
    automatically_unmute_topics_in_muted_streams_policy: Literal[1, 2, 3, 4] = TopicTrigger.SENDING.value
    desktop_icon_count_display: Literal[1, 2, 3, 4] = 1
    email_notifications_batching_period_seconds: Seconds = 120
    enable_desktop_notifications: bool = True
    enable_digest_emails: bool = True
    enable_followed_topic_audible_notifications: bool = True
    enable_followed_topic_desktop_notifications: bool = True
    enable_followed_topic_email_notifications: bool = True
    enable_followed_topic_push_notifications: bool = True
    enable_followed_topic_wildcard_mentions_notify: bool = True
    enable_login_emails: bool = True
    enable_marketing_emails: bool = True
    enable_offline_email_notifications: bool = True
    enable_offline_push_notifications: bool = True
    enable_online_push_notifications: bool = True
    enable_sounds: bool = True
    enable_stream_audible_notifications: bool = False
    enable_stream_desktop_notifications: bool = False
    enable_stream_email_notifications: bool = False
    enable_stream_push_notifications: bool = False
    message_content_in_email_notifications: bool = True
    notification_sound: Sound = "chime"
    pm_content_in_desktop_notifications: bool = True
    presence_enabled: bool = True
    realm_name_in_email_notifications_policy: Literal[1, 2, 3] = 1
    wildcard_mentions_notify: bool = True


class QuietSettings(NotificationSettings, frozen=True, omit_defaults=True, kw_only=True):
    """When it does not call. An extension: other clients do not know these.

    Quiet hours begin on the days of `quiet_hours_days`; if their end is not after their start, they end on the next day.
    """

    notifications_paused_until: Timestamp = 0
    quiet_hours_days: Days = 127
    quiet_hours_enabled: bool = False
    quiet_hours_end: Minute = 7 * 60
    quiet_hours_start: Minute = 22 * 60


class UserSettings(QuietSettings, frozen=True, omit_defaults=True, kw_only=True):
    """All settings: also what others learn, and what the service does with drafts."""

    allow_private_data_export: bool = False
    email_address_visibility: Literal[1, 2, 3, 4, 5] = 1
    enable_drafts_synchronization: bool = True
    receives_typing_notifications: bool = True
    send_private_typing_notifications: bool = True
    send_read_receipts: bool = True
    send_stream_typing_notifications: bool = True


_LOOKS = "The web client has no such choice."
ONLY_KEPT = {
    "emojiset": "The web client shows emoji as the device does.",
    "enable_marketing_emails": "This server sends no advertising.",
    "enable_online_push_notifications": "Whoever is active is not told by pushes: what they look at tells them.",
    "hide_ai_features": "There are none.",
    "high_contrast_mode": "The web client follows the device.",
    "left_side_userlist": _LOOKS,
    "resolved_topic_notice_auto_read_policy": "The notice that a topic is resolved is unread like any message.",
    "starred_message_counts": _LOOKS,
    "user_list_style": _LOOKS,
    "web_animate_image_previews": _LOOKS,
    "web_channel_default_view": _LOOKS,
    "web_escape_navigates_to_home_view": _LOOKS,
    "web_inbox_show_channel_folders": _LOOKS,
    "web_left_sidebar_show_channel_folders": _LOOKS,
    "web_left_sidebar_unreads_count_summary": _LOOKS,
    "web_navigate_to_sent_message": _LOOKS,
    "web_stream_unreads_count_display_policy": _LOOKS,
    "web_suggest_update_timezone": _LOOKS,
}
"""Settings that nothing here obeys, kept and told for other clients, and why. The API description says so."""


class Chosen(msgspec.Struct, frozen=True):
    """All that somebody chose of themselves, locked."""

    settings: UserSettings
    timezone: str
    full_name: str
    email: str
    role: int
    is_active: bool
    name_is_fixed: bool
    """The organization does not let people change their names."""


class SettingsChange(msgspec.Struct, frozen=True):
    """What is to be another; None: as it is."""

    settings: dict[str, object]
    full_name: str | None = None
    timezone: str | None = None
