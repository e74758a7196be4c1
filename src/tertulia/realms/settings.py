"""An organization's settings: the stored ones are only those that differ from the defaults here."""

import functools

import msgspec


class RealmSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """Published by POST /register with the prefix `realm_`."""

    empty_topic_display_name: str = "general chat"
    topics_policy: str = "allow_empty_topic"
    default_language: str = "en"
    default_code_block_language: str = ""
    allow_message_editing: bool = True
    message_content_edit_limit_seconds: int | None = 600
    message_content_delete_limit_seconds: int | None = 600
    move_messages_within_stream_limit_seconds: int | None = 604_800
    move_messages_between_streams_limit_seconds: int | None = 604_800
    message_edit_history_visibility_policy: str = "all"
    message_retention_days: int = -1
    enable_read_receipts: bool = False
    enable_spectator_access: bool = False
    want_advertise_in_communities_directory: bool = False
    invite_required: bool = True
    disallow_disposable_email_addresses: bool = True
    emails_restricted_to_domains: bool = False
    require_unique_names: bool = False
    name_changes_disabled: bool = False
    email_changes_disabled: bool = False
    avatar_changes_disabled: bool = False
    enable_guest_user_indicator: bool = True
    enable_guest_user_dm_warning: bool = True
    send_channel_events_messages: bool = False
    digest_emails_enabled: bool = False
    digest_weekday: int = 1
    send_welcome_emails: bool = True
    message_content_allowed_in_email_notifications: bool = True
    inline_image_preview: bool = True
    inline_url_embed_preview: bool = False
    media_preview_size: int = 100
    presence_disabled: bool = False
    waiting_period_threshold: int = 0
    video_chat_provider: int = 1
    gif_rating_policy: int = 1
    org_type: int = 0
    welcome_message_custom_text: str = ""
    new_stream_announcements_stream_id: int = -1
    signup_announcements_stream_id: int = -1
    moderation_request_channel_id: int = -1
    password_auth_enabled: bool = True


@functools.lru_cache(maxsize=1024)
def decode_settings(stored: bytes) -> RealmSettings:
    """The settings of a realm from what is stored; equal bytes are decoded once."""
    return msgspec.json.decode(stored, type=RealmSettings)
