"""What POST /register says of the server itself: limits, and what it offers and does not offer."""

import time
from typing import Any

from tertulia.organization.realms import limits

SERVER: dict[str, Any] = {
    "max_message_length": limits.MAX_MESSAGE_LENGTH,
    "max_topic_length": limits.MAX_TOPIC_LENGTH,
    "max_stream_name_length": limits.MAX_CHANNEL_NAME_LENGTH,
    "max_stream_description_length": limits.MAX_CHANNEL_DESCRIPTION_LENGTH,
    "max_channel_folder_name_length": limits.MAX_CHANNEL_FOLDER_NAME_LENGTH,
    "max_channel_folder_description_length": limits.MAX_CHANNEL_FOLDER_DESCRIPTION_LENGTH,
    "max_reminder_note_length": 1000,
    "max_bulk_new_subscription_messages": 100,
    "max_avatar_file_size_mib": 5,
    "max_icon_file_size_mib": 5,
    "max_logo_file_size_mib": 5,
    "password_min_length": limits.PASSWORD_MIN_LENGTH,
    "password_max_length": limits.PASSWORD_MAX_LENGTH,
    "password_min_guesses": limits.PASSWORD_MIN_GUESSES,
    "server_typing_started_wait_period_milliseconds": limits.TYPING_STARTED_WAIT_MS,
    "server_typing_stopped_wait_period_milliseconds": limits.TYPING_STOPPED_WAIT_MS,
    "server_typing_started_expiry_period_milliseconds": limits.TYPING_EXPIRY_MS,
    "server_presence_ping_interval_seconds": limits.PRESENCE_PING_SECONDS,
    "server_presence_offline_threshold_seconds": limits.PRESENCE_OFFLINE_SECONDS,
    "event_queue_longpoll_timeout_seconds": limits.LONGPOLL_TIMEOUT_SECONDS,
    "server_generation": int(time.time()),
    "server_inline_image_preview": True,
    "server_inline_url_embed_preview": True,
    "server_avatar_changes_disabled": False,
    "server_name_changes_disabled": False,
    "server_needs_upgrade": False,
    "server_can_summarize_topics": False,
    "server_min_deactivated_realm_deletion_days": 14,
    "server_max_deactivated_realm_deletion_days": None,
    "server_report_message_types": [
        {"key": "spam", "name": "Spam"},
        {"key": "harassment", "name": "Harassment"},
        {"key": "inappropriate", "name": "Inappropriate content"},
        {"key": "norms", "name": "Against our customs"},
        {"key": "other", "name": "Another reason"},
    ],
    "gif_rating_policy_options": {
        "disabled": {"name": "No GIFs", "id": 0},
        "y": {"name": "Suitable for young people", "id": 1},
        "g": {"name": "Suitable for everyone", "id": 2},
        "pg": {"name": "With parental guidance", "id": 3},
        "pg-13": {"name": "Not for those under 13", "id": 4},
    },
    "service_plan_is_not_limited": True,
}
"""The same for every organization. Nothing here changes while the process runs."""

ORGANIZATION: dict[str, Any] = {
    "available_video_chat_providers": {
        "disabled": {"name": "None", "id": 0},
        "jitsi_meet": {"name": "Jitsi Meet", "id": 1},
    },
    "default_avatar_source": "J",
    "owner_full_content_access": False,
    "plan_type": 1,
    "push_notifications_enabled": False,
    "push_notifications_enabled_end_timestamp": None,
    "require_e2ee_push_notifications": False,
    "service_update_announcements_stream_id": -1,
}
"""What an organization cannot change here (yet): published with the prefix `realm_`."""
