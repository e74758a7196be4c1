"""Every key of POST /register, by the type it is fetched with (protocol/events.md#register)."""

import pytest

from tests.contract.test_register import ALWAYS, state
from tests.harness.talk import Speaker

KEYS = {
    "alert_words": "alert_words",
    "channel_folders": "channel_folders",
    "custom_profile_fields": "custom_profile_fields custom_profile_field_types",
    "default_stream_groups": "realm_default_stream_groups",
    "default_streams": "realm_default_streams",
    "device": "devices",
    "drafts": "drafts",
    "giphy": "giphy_api_key",
    "klipy": "klipy_api_key",
    "message": "max_message_id",
    "muted_topics": "muted_topics",
    "muted_users": "muted_users",
    "navigation_views": "navigation_views",
    "onboarding_steps": "onboarding_steps navigation_tour_video_url",
    "presence": "presences presence_last_update_id server_timestamp",
    "realm_billing": "realm_billing",
    "realm_bot": "realm_bots",
    "realm_domains": "realm_domains",
    "realm_embedded_bots": "realm_embedded_bots",
    "realm_emoji": "realm_emoji",
    "realm_filters": "realm_filters",
    "realm_incoming_webhook_bots": "realm_incoming_webhook_bots",
    "realm_linkifiers": "realm_linkifiers",
    "realm_user": """
        realm_users realm_non_active_users cross_realm_bots avatar_source avatar_url avatar_url_medium can_create_streams
        can_create_public_streams can_create_private_streams can_create_web_public_streams can_invite_others_to_realm
        is_admin is_owner is_moderator is_guest user_id email delivery_email full_name
    """,
    "realm_user_groups": "realm_user_groups",
    "realm_user_settings_defaults": "realm_user_settings_defaults",
    "recent_private_conversations": "recent_private_conversations",
    "reminders": "reminders",
    "saved_snippets": "saved_snippets",
    "scheduled_messages": "scheduled_messages",
    "starred_messages": "starred_messages",
    "stop_words": "stop_words",
    "stream": "streams",
    "subscription": "subscriptions unsubscribed never_subscribed",
    "tenor": "tenor_api_key",
    "update_message_flags": "",
    "user_settings": "user_settings",
    "user_status": "user_status",
    "user_topic": "user_topics",
    "video_calls": "has_zoom_token has_webex_token",
}
SERVER = """
    max_message_length max_topic_length max_stream_name_length max_stream_description_length
    max_channel_folder_name_length max_channel_folder_description_length max_reminder_note_length
    max_bulk_new_subscription_messages max_file_upload_size_mib max_avatar_file_size_mib max_icon_file_size_mib
    max_logo_file_size_mib password_min_length password_max_length password_min_guesses
    server_typing_started_wait_period_milliseconds server_typing_stopped_wait_period_milliseconds
    server_typing_started_expiry_period_milliseconds server_presence_ping_interval_seconds
    server_presence_offline_threshold_seconds event_queue_longpoll_timeout_seconds
    server_min_deactivated_realm_deletion_days server_max_deactivated_realm_deletion_days server_generation
    server_inline_image_preview server_inline_url_embed_preview server_avatar_changes_disabled
    server_name_changes_disabled server_needs_upgrade server_web_public_streams_enabled server_can_summarize_topics
    development_environment settings_send_digest_emails server_jitsi_server_url jitsi_server_url server_emoji_data_url
    server_thumbnail_formats server_report_message_types server_supported_permission_settings gif_rating_policy_options
"""
ORGANIZATION = """
    empty_topic_display_name topics_policy mandatory_topics name description url uri uuid bot_domain date_created
    default_language default_code_block_language welcome_message_custom_text allow_message_editing
    message_content_edit_limit_seconds message_content_delete_limit_seconds move_messages_within_stream_limit_seconds
    move_messages_between_streams_limit_seconds message_edit_history_visibility_policy allow_edit_history
    message_retention_days enable_read_receipts enable_spectator_access want_advertise_in_communities_directory
    invite_required disallow_disposable_email_addresses emails_restricted_to_domains require_unique_names
    name_changes_disabled email_changes_disabled avatar_changes_disabled enable_guest_user_indicator
    enable_guest_user_dm_warning send_channel_events_messages digest_emails_enabled require_e2ee_push_notifications
    push_notifications_enabled owner_full_content_access presence_disabled send_welcome_emails
    message_content_allowed_in_email_notifications inline_image_preview inline_url_embed_preview media_preview_size
    digest_weekday waiting_period_threshold video_chat_provider gif_rating_policy org_type plan_type
    push_notifications_enabled_end_timestamp upload_quota_mib jitsi_server_url moderation_request_channel_id
    new_stream_announcements_stream_id signup_announcements_stream_id service_update_announcements_stream_id icon_url
    icon_source logo_url logo_source night_logo_url night_logo_source default_avatar_source authentication_methods
    email_auth_enabled password_auth_enabled available_video_chat_providers default_external_accounts
    create_public_stream_policy create_private_stream_policy create_web_public_stream_policy wildcard_mention_policy
    can_access_all_users_group can_delete_own_message_group can_move_messages_between_topics_group
    can_resolve_topics_group can_summarize_topics_group direct_message_initiator_group direct_message_permission_group
    workplace_users_group can_add_subscribers_group can_add_custom_emoji_group can_create_bots_group
    can_create_write_only_bots_group can_create_groups can_create_public_channel_group can_create_private_channel_group
    can_invite_users_group can_move_messages_between_channels_group can_set_topics_policy_group
    can_set_delete_message_policy_group can_delete_any_message_group can_mention_many_users_group
    can_manage_billing_group create_multiuse_invite_group can_manage_all_groups can_create_web_public_channel_group
"""


@pytest.mark.holds("register.keys")
@pytest.mark.parametrize("kind", KEYS)
def test_a_type_brings_exactly_its_keys(member: Speaker, kind: str) -> None:
    found = state(member, event_types=[], fetch_event_types=[kind])
    older = {key for key in found if key.startswith("zulip_")}
    assert found.keys() - older == {*KEYS[kind].split(), *ALWAYS, "result", "msg"}


@pytest.mark.holds("register.realm", "limits.published")
def test_the_realm_brings_limits_and_settings(member: Speaker) -> None:
    found = state(member, event_types=[], fetch_event_types=["realm"])
    assert {*SERVER.split(), *(f"realm_{name}" for name in ORGANIZATION.split())} <= found.keys()


@pytest.mark.holds("register.keys")
def test_everything_is_there_for_everybody(owner: Speaker, member: Speaker, guest: Speaker, bot: Speaker) -> None:
    wanted = {name for names in KEYS.values() for name in names.split()} | {"unread_msgs"}
    for speaker in (owner, member, guest, bot):
        assert wanted <= state(speaker).keys()


@pytest.mark.holds("user-topics.older-event")
def test_muted_topics_are_left_out_for_those_who_ask_for_both(member: Speaker) -> None:
    assert "muted_topics" not in state(member, fetch_event_types=["muted_topics", "user_topic"])


@pytest.mark.holds("register.recent")
def test_recent_conversations_come_with_the_newest_first(newcomer: Speaker, other: Speaker, owner: Speaker) -> None:
    newcomer.send([newcomer.id])
    other.send([newcomer.id])
    group = newcomer.send([owner.id, other.id])
    answered = newcomer.send([other.id])
    note = newcomer.send([newcomer.id])
    found = state(newcomer, fetch_event_types=["recent_private_conversations"])["recent_private_conversations"]
    assert found == [
        {"user_ids": [], "max_message_id": note},
        {"user_ids": [other.id], "max_message_id": answered},
        {"user_ids": sorted([owner.id, other.id]), "max_message_id": group},
    ]


@pytest.mark.holds("register.stop-words")
def test_a_search_leaves_stop_words_out(member: Speaker) -> None:
    words = state(member, fetch_event_types=["stop_words"])["stop_words"]
    assert {"the", "and"} <= set(words)
    narrow = [{"operator": "search", "operand": words[0]}]
    assert member.window(before=1, narrow=narrow)["messages"] == []


@pytest.mark.holds("register.anonymous")
def test_nobody_registers_where_the_organization_is_not_open(nobody: Speaker) -> None:
    assert nobody.request("POST", "register", client_gravatar=False).status_code == 401
