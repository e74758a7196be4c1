"""Rows of tables that no request of a test fills, by hand: of the person (`user`) or of their bot (`bot`)."""

SOON = "now() + interval '1 day'"
DIGEST = "sha256(gen_random_uuid()::text::bytea)"
CHANNEL = "(select id from channel where realm_id = %(realm)s order by id limit 1)"

ROWS: dict[str, str] = {
    "alert_word": (
        "(realm_id, user_id, word_key, word, first_word) values (%(realm)s, %(user)s, 'plum', 'plum', 'plum')"
    ),
    "api_key": f"(user_id, digest) values (%(user)s, {DIGEST})",
    "bot_default": "(user_id) values (%(bot)s)",
    "bot_service": "(user_id, base_url, interface, token) values (%(bot)s, 'http://plum', 1, 'plum')",
    "bot_storage": "(user_id, key, value, size) values (%(bot)s, 'plum', 'blue', 8)",
    "browser_session": f"(digest, user_id, csrf_token, expires) values ({DIGEST}, %(user)s, 'plum', {SOON})",
    "channel_address": f"(channel_id, sender_id, digest, token) values ({CHANNEL}, %(user)s, {DIGEST}, 'plum')",
    "draft": f"(user_id, channel_id, topic, content, edited_at) values (%(user)s, {CHANNEL}, 'x', 'plum', now())",
    "email_change": (
        "(user_id, digest, old_digest, old_email_key, new_email, expires)"
        f" values (%(user)s, {DIGEST}, {DIGEST}, 'plum', 'plum@example.com', {SOON})"
    ),
    "external_identity": "(realm_id, provider, subject, user_id) values (%(realm)s, 'plum', 'plum', %(user)s)",
    "group_member": (
        "(realm_id, group_id, user_id) select %(realm)s, id, %(user)s from user_group"
        " where realm_id = %(realm)s and not is_system order by id limit 1"
    ),
    "hook_call": f"(bot_id, message_id, due) values (%(bot)s, %(message)s, {SOON})",
    "hook_secret": "(user_id, integration, secret) values (%(bot)s, 'plum', 'plum')",
    "invitation": (
        "(realm_id, inviter_id, email, email_key, invited_as, channel_ids, group_ids, with_defaults, tells_inviter, digest)"
        f" values (%(realm)s, %(user)s, 'plum', 'plum', 400, '{{}}', '{{}}', false, false, {DIGEST})"
    ),
    "login_place": "(user_id, place) values (%(user)s, 'network plum')",
    "mail_batch": f"(user_id, due) values (%(user)s, {SOON})",
    "missed_message": "(user_id, message_id, was_active) values (%(user)s, %(message)s, false)",
    "message_mark": "(user_id, flag, message_id) values (%(user)s, 2, %(message)s)",
    "muted_user": "(user_id, muted_id) values (%(user)s, %(other)s)",
    "passkey": (
        "(realm_id, user_id, credential, public_key, sign_count, label, transports, is_verifying, is_synced)"
        " values (%(realm)s, %(user)s, 'plum', 'plum', 0, 'plum', '{}', true, true)"
    ),
    "passkey_challenge": (
        "(digest, realm_id, user_id, credential, purpose, expires)"
        f" values ({DIGEST}, %(realm)s, %(user)s, 0, 'plum', {SOON})"
    ),
    "password_reset": f"(digest, user_id, email_key, expires) values ({DIGEST}, %(user)s, 'plum', {SOON})",
    "presence": "(user_id, realm_id, connected_at, update_id) values (%(user)s, %(realm)s, now(), 1)",
    "profile_value": (
        "(realm_id, user_id, field_id, value) select %(realm)s, %(user)s, id, 'plum' from profile_field"
        " where realm_id = %(realm)s order by id limit 1"
    ),
    "push_subscription": (
        "(realm_id, user_id, endpoint, public_key, auth_secret, key_id) select %(realm)s, %(user)s, 'https://plum',"
        " sha512('x') || '0', 'plum', id from api_key where user_id = %(user)s order by id limit 1"
    ),
    "read_state": f"(conversation_id, user_id) values ({CHANNEL}, %(user)s)",
    "recovery_code": f"(user_id, digest) values (%(user)s, {DIGEST})",
    "reminder": (
        "(realm_id, user_id, message_id, note, rendered_note, due)"
        f" values (%(realm)s, %(user)s, %(message)s, 'plum', '', {SOON})"
    ),
    "reply_address": (
        "(digest, user_id, conversation_id, topic_id, topic, expires)"
        f" values ({DIGEST}, %(user)s, {CHANNEL}, 1, 'plum', {SOON})"
    ),
    "resumable_upload": (
        f"(id, realm_id, owner_id, name, size, expires_at) values (%(word)s, %(realm)s, %(user)s, 'plum', 1, {SOON})"
    ),
    "saved_snippet": "(user_id, title, content) values (%(user)s, 'plum', 'plum')",
    "scheduled_message": (
        "(realm_id, user_id, user_ids, content, rendered, client, read, due)"
        f" values (%(realm)s, %(user)s, array[%(user)s], 'plum', '', '', false, {SOON})"
    ),
    "scim_user": "(user_id, realm_id, user_name, user_name_key) values (%(user)s, %(realm)s, 'plum', 'plum')",
    "second_factor": "(user_id, secret, is_confirmed) values (%(user)s, 'plum', false)",
    "sent_request": "(sender_id, key, message_id) values (%(user)s, 'plum', %(message)s)",
    "subscription": f"(user_id, channel_id, color) values (%(user)s, {CHANNEL}, '#aabbcc')",
    "topic_policy": (
        "(user_id, topic_id, policy) select %(user)s, topic.id, 3 from topic join channel on channel.id = conversation_id"
        " where realm_id = %(realm)s order by topic.id limit 1"
    ),
    "user_status": "(user_id, status_text, emoji_name, emoji_code) values (%(user)s, 'plum', 'plum', 'plum')",
}
