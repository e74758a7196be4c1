"""Who may call what: one line for each endpoint, one letter for each kind of caller (tests/features/server/test_endpoints.py).

Callers, in this order: owner, administrator, moderator, full member, new member, guest, bot (of a member, itself one),
incoming-webhook bot; a deactivated account, nobody (no credentials), and an owner of another organization.
Letters: + allowed; g not for guests; b not for bots; a only administrators; o only owners; - not permitted (here the
organization lets only full members make groups, channels and bots); u must log in, or log in as somebody else; d only with the
token of a directory, which no account is.

A line: "METHOD /path" (without /api/v1), the letters, and as far as needed the fields and parts of the path with which it
succeeds ($names: see `scene` in the test; $unique is new each time), and `reaches`: instead of a success, a part of the
refusal that only callers who are allowed come to (so that the scene stays as it is).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

ANYBODY = "+++++++uuuu"
SENDERS = "++++++++uuu"
HUMANS = "++++++buuuu"
MEMBERS = "+++++g+uuuu"
HUMAN_MEMBERS = "+++++gbuuuu"
ADMINISTRATORS = "++aaaaauuuu"
OWNERS = "+oooooouuuu"
HUMAN_ADMINISTRATORS = "++aaaabuuuu"
HUMAN_OWNERS = "+ooooobuuuu"
EVERYBODY = "+++++++++++"
DIRECTORIES = "ddddddddddd"

COLUMNS = (
    *("owner", "administrator", "moderator", "member", "new member", "guest", "bot", "webhook bot"),
    *("deactivated", "nobody", "stranger"),
)


class Row(NamedTuple):
    """What is expected of an endpoint."""

    letters: str
    fields: Mapping[str, str] = MappingProxyType({})
    reaches: str = ""


_FILE = {"realm_id": "1", "part": "ab", "secret": "none", "name": "x.txt"}
_TOPIC = {"channel_id": "1", "topic_id": "1"}
_GROUP = {"user_group_id": "$group"}
_CREDENTIAL = (
    '{"id": "AA", "rawId": "AA", "type": "public-key", "response": {"clientDataJSON": "AA", "attestationObject": "AA"}}'
)


TABLE: dict[str, Row] = {
    # realms
    "GET /server_settings": Row(EVERYBODY),
    "PATCH /realm": Row(ADMINISTRATORS, {"send_welcome_emails": "true"}),
    "GET /realm/domains": Row(ANYBODY),
    "POST /realm/domains": Row(OWNERS, {"domain": "$unique_word.example.com", "allow_subdomains": "true"}),
    "PATCH /realm/domains/{domain}": Row(OWNERS, {"domain": "none", "allow_subdomains": "true"}, "not a part"),
    "DELETE /realm/domains/{domain}": Row(OWNERS, {"domain": "none"}, "not a part"),
    "POST /realm/icon": Row(ADMINISTRATORS, {}, "exactly one file"),
    "DELETE /realm/icon": Row(ADMINISTRATORS),
    "POST /realm/logo": Row(ADMINISTRATORS, {"night": "false"}, "exactly one file"),
    "DELETE /realm/logo": Row(ADMINISTRATORS, {"night": "true"}),
    "GET /audit_log": Row(OWNERS),
    "GET /audit_log/csv": Row(OWNERS),
    "GET /audit_log/stream": Row(OWNERS),
    "GET /audit_log/acts": Row(OWNERS),
    # groups
    "GET /user_groups": Row(MEMBERS),
    "POST /user_groups/create": Row("++++-g+uuuu", {"name": "$unique", "description": "", "members": "[]"}),
    "PATCH /user_groups/{user_group_id}": Row("+--+-g-uuuu", {**_GROUP, "description": "$unique"}),
    "POST /user_groups/{user_group_id}/deactivate": Row("+--+---uuuu", {"user_group_id": "$used_group"}, "in use"),
    "DELETE /user_groups/{user_group_id}": Row("+--+---uuuu", {"user_group_id": "$used_group"}, "in use"),
    "POST /user_groups/{user_group_id}/members": Row("+--+-g-uuuu", {**_GROUP, "add": "[$owner]"}, "already a member"),
    "POST /user_groups/{user_group_id}/subgroups": Row("+--+-g-uuuu", {**_GROUP, "add": "[$group]"}, "part of itself"),
    "GET /user_groups/{user_group_id}/members": Row(MEMBERS, _GROUP),
    "GET /user_groups/{user_group_id}/members/{user_id}": Row(MEMBERS, {**_GROUP, "user_id": "$owner"}),
    "GET /user_groups/{user_group_id}/subgroups": Row(MEMBERS, _GROUP),
    # users
    "GET /users": Row(ANYBODY),
    "POST /users/me/avatar": Row(ANYBODY, {}, "exactly one file"),
    "DELETE /users/me/avatar": Row(ANYBODY),
    "GET /users/me": Row(ANYBODY),
    "GET /users/{user_id}": Row(ANYBODY, {"user_id": "$member"}),
    "GET /users/{email}": Row(ANYBODY, {"email": "$member_email"}),
    "POST /users": Row(ADMINISTRATORS, {"email": "$unique_email", "password": "long enough", "full_name": "Ada"}),
    "PATCH /users/{user_id}": Row("++-----uuuu", {"user_id": "$bystander", "full_name": "$unique"}),
    "PATCH /users/{email}": Row("++-----uuuu", {"email": "$bystander_email", "full_name": "$unique"}),
    "DELETE /users/me": Row(HUMANS, {}, "REAUTHENTICATION_REQUIRED"),
    "POST /users/{user_id}/erase": Row(HUMAN_OWNERS, {"user_id": "0"}, "REAUTHENTICATION_REQUIRED"),
    "GET /users/{user_id}/erasure": Row(HUMAN_OWNERS, {"user_id": "0"}, "No such user"),
    "GET /legal_holds": Row(HUMAN_OWNERS),
    "POST /legal_holds": Row(HUMAN_OWNERS, {}, "REAUTHENTICATION_REQUIRED"),
    "DELETE /legal_holds/{hold_id}": Row(HUMAN_OWNERS, {"hold_id": "0"}, "REAUTHENTICATION_REQUIRED"),
    "DELETE /users/{user_id}": Row(ADMINISTRATORS, {"user_id": "$deactivated"}, "User is deactivated"),
    "POST /users/{user_id}/reactivate": Row(ADMINISTRATORS, {"user_id": "$bystander"}),
    # logins and sessions
    "POST /fetch_api_key": Row(EVERYBODY, {"username": "nobody", "password": "x"}, "valid email"),
    "GET /users/me/factors": Row(HUMANS),
    "POST /users/me/factors/totp": Row(HUMANS, {}, "REAUTHENTICATION_REQUIRED"),
    "POST /users/me/factors/totp/confirm": Row(HUMANS, {"code": "000000"}, "begin again"),
    "POST /users/me/factors/recovery_codes": Row(HUMANS, {"code": "000000"}, "no second factor"),
    "DELETE /users/me/factors/totp": Row(HUMANS, {"code": "000000"}, "no second factor"),
    "GET /users/me/passkeys": Row(HUMANS),
    "POST /users/me/passkeys/options": Row(HUMANS, {}, "REAUTHENTICATION_REQUIRED"),
    "POST /users/me/passkeys": Row(HUMANS, {"label": "x", "credential": _CREDENTIAL}, "PASSKEY_FAILED"),
    "PATCH /users/me/passkeys/{passkey_id}": Row(HUMANS, {"passkey_id": "0", "label": "x"}, "no such passkey"),
    "DELETE /users/me/passkeys/{passkey_id}": Row(HUMANS, {"passkey_id": "0"}, "no such passkey"),
    "GET /users/me/api_keys": Row(ANYBODY),
    "DELETE /users/me/api_keys/{key_id}": Row(ANYBODY, {"key_id": "0"}, "no such API key"),
    "POST /users/me/api_key/regenerate": Row(ANYBODY),
    "POST /accounts/password/reset": Row(EVERYBODY, {"email": "nobody"}, "valid email"),
    "POST /accounts/password/reset/confirm": Row(EVERYBODY, {"token": "x", "new_password": "y"}, "no longer good"),
    "GET outside /accounts/password/reset/{token}": Row(EVERYBODY, {"token": "x"}, "no longer works"),
    "POST outside /accounts/password/reset/confirm": Row(
        EVERYBODY, {"token": "x", "new_password": "y"}, "no longer works"
    ),
    "POST /accounts/email/confirm": Row(EVERYBODY, {"token": "x"}, "no longer good"),
    "GET outside /accounts/email/confirm/{token}": Row(EVERYBODY, {"token": "x"}),
    "POST outside /accounts/email/confirm": Row(EVERYBODY, {"token": "x"}, "no longer good"),
    "POST /sessions": Row(EVERYBODY, {"username": "nobody", "password": "x"}, "valid email"),
    "GET /sessions/current": Row("u" * 11),
    "DELETE /sessions/current": Row(HUMANS, {}, "not by a browser"),
    "POST /sessions/factor": Row(EVERYBODY, {"username": "nobody", "password": "x"}, "valid email"),
    "POST outside /accounts/login/oidc/{provider}/code": Row(
        EVERYBODY, {"provider": "none", "state": "x", "code": "x"}, "nothing at this"
    ),
    "POST /sessions/passkey/options": Row(EVERYBODY),
    "POST /sessions/passkey": Row(EVERYBODY, {"passkey": "{}"}, "passkey"),
    "POST /sessions/end_others": Row(HUMANS, {}, "REAUTHENTICATION_REQUIRED"),
    "DELETE /sessions": Row(HUMANS, {}, "REAUTHENTICATION_REQUIRED"),
    "GET /sessions": Row(HUMANS),
    "DELETE /sessions/{session_id}": Row(HUMANS, {"session_id": "0"}, "no such session"),
    "GET outside /probe/{ticket}": Row(EVERYBODY, {"ticket": "x"}, "nothing at this address"),
    "GET outside /accounts/login/link/{ticket}": Row(EVERYBODY, {"ticket": "none"}, "no longer valid"),
    "GET outside /accounts/login/oidc/{provider}": Row(EVERYBODY, {"provider": "none"}, "nothing at this address"),
    "GET outside /accounts/login/oidc/{provider}/callback": Row(
        EVERYBODY, {"provider": "none"}, "nothing at this address"
    ),
    "POST outside /accounts/login/oidc/{provider}/logout": Row(
        EVERYBODY, {"provider": "none", "logout_token": "x"}, "nothing at this address"
    ),
    # pushes
    "GET /realm/mail_failures": Row(ADMINISTRATORS),
    "GET outside /accounts/unsubscribe/{kind}/{token}": Row(
        EVERYBODY, {"kind": "digest", "token": "x"}, "not one of ours"
    ),
    "POST outside /accounts/unsubscribe/{kind}/{token}": Row(
        EVERYBODY, {"kind": "digest", "token": "x"}, "not one of ours"
    ),
    "GET /users/me/push_subscriptions/key": Row(HUMANS),
    "POST /users/me/push_subscriptions": Row(HUMANS, {"endpoint": "x", "p256dh": "x", "auth": "x"}, "push service"),
    "POST /users/me/push_subscriptions/test": Row(HUMANS, {"endpoint": "x"}, "no such push subscription"),
    "GET /users/me/unread": Row(HUMANS),
    "GET /users/me/push_subscriptions": Row(HUMANS),
    "DELETE /users/me/push_subscriptions": Row(HUMANS, {"endpoint": "x"}, "no such push subscription"),
    # integrations: a key in the address says who calls, and nothing else does
    "POST /external/{integration}": Row(EVERYBODY, {"integration": "json"}, "api_key is missing"),
    "POST /bots/{bot_id}/webhook_secret": Row(
        "++-+-gbuuuu",
        {"bot_id": "$spare_bot", "integration": "github", "secret": "$unique secret"},
        "incoming webhook bot",
    ),
    # bots
    "POST /bots": Row("++++-gbuuuu", {"full_name": "$unique", "short_name": "$unique_word"}),
    "GET /bots": Row(HUMAN_MEMBERS),
    "PATCH /bots/{bot_id}": Row("++-+-gbuuuu", {"bot_id": "$bot", "full_name": "$unique"}),
    "DELETE /bots/{bot_id}": Row("++-+-gbuuuu", {"bot_id": "$off_bot"}, "deactivated already"),
    "GET /bots/{bot_id}/api_key": Row("---+-gbuuuu", {"bot_id": "$spare_bot"}, "shown once"),
    "POST /bots/{bot_id}/api_key/regenerate": Row("---+-gbuuuu", {"bot_id": "$spare_bot"}),
    # preferences
    "PATCH /settings": Row(HUMANS, {"twenty_four_hour_time": "true"}),
    "PATCH /settings/display": Row(HUMANS, {"twenty_four_hour_time": "true"}),
    "PATCH /settings/notifications": Row(HUMANS, {"enable_sounds": "true"}),
    "PATCH /realm/user_settings_defaults": Row(ADMINISTRATORS, {"enable_sounds": "true"}),
    # profiles
    "GET /realm/profile_fields": Row(ANYBODY),
    "POST /realm/profile_fields": Row(ADMINISTRATORS, {"field_type": "1", "name": ""}, "blank"),
    "PATCH /realm/profile_fields": Row(ADMINISTRATORS, {"order": "[$field]"}),
    "PATCH /realm/profile_fields/{field_id}": Row(ADMINISTRATORS, {"field_id": "$field", "hint": "$unique"}),
    "DELETE /realm/profile_fields/{field_id}": Row(ADMINISTRATORS, {"field_id": "0"}, "0"),
    "PATCH /users/me/profile_data": Row(HUMANS, {"data": '[{"id": $field, "value": "x"}]'}),
    "DELETE /users/me/profile_data": Row(HUMANS, {"data": "[$field]"}),
    # mutes and alerts
    "POST /users/me/muted_users/{muted_user_id}": Row(ANYBODY, {"muted_user_id": "$bystander"}),
    "DELETE /users/me/muted_users/{muted_user_id}": Row(ANYBODY, {"muted_user_id": "$bystander"}),
    "GET /users/me/alert_words": Row(ANYBODY),
    "POST /users/me/alert_words": Row(ANYBODY, {"alert_words": '["tea"]'}),
    "DELETE /users/me/alert_words": Row(ANYBODY, {"alert_words": '["tea"]'}),
    # folders
    "GET /channel_folders": Row(ANYBODY),
    "POST /channel_folders/create": Row(ADMINISTRATORS, {"name": "$unique", "description": ""}),
    "PATCH /channel_folders": Row(ADMINISTRATORS, {"order": "[0]"}, "folder"),
    "PATCH /channel_folders/{channel_folder_id}": Row(
        ADMINISTRATORS, {"channel_folder_id": "0", "name": "x"}, "folder"
    ),
    # channels and topics
    "GET /users/me/subscriptions": Row(ANYBODY),
    "GET /streams": Row(ANYBODY),
    "GET /streams/{stream_id}": Row(ANYBODY, {"stream_id": "$channel"}),
    "GET /streams/{stream_id}/members": Row(ANYBODY, {"stream_id": "$channel"}),
    "GET /get_stream_id": Row(ANYBODY, {"stream": "$channel_name"}),
    "GET /users/{user_id}/channels": Row(ANYBODY, {"user_id": "$member"}),
    "GET /users/{user_id}/subscriptions/{stream_id}": Row(ANYBODY, {"user_id": "$member", "stream_id": "$channel"}),
    "GET /users/me/{stream_id}/topics": Row(ANYBODY, {"stream_id": "$channel"}),
    "POST /default_streams": Row(ADMINISTRATORS, {"stream_id": "$channel"}),
    "DELETE /default_streams": Row(ADMINISTRATORS, {"stream_id": "$channel"}),
    "PATCH /users/me/subscriptions": Row(ANYBODY, {"delete": '["no such channel"]'}, "no such channel"),
    "POST /channels/create": Row("++++-g+uuuu", {"name": "$unique", "subscribers": "[]"}),
    "POST /users/me/subscriptions": Row(MEMBERS, {"subscriptions": '[{"name": "$channel_name"}]'}),
    "DELETE /users/me/subscriptions": Row(ANYBODY, {"subscriptions": "[]"}),
    "POST /users/me/subscriptions/properties": Row(ANYBODY, {"subscription_data": "[]"}),
    "PATCH /users/me/subscriptions/{stream_id}": Row(
        ANYBODY, {"stream_id": "$channel", "property": "is_muted", "value": "false"}
    ),
    "PATCH /users/me/subscriptions/muted_topics": Row(
        ANYBODY, {"stream_id": "$channel", "topic": "$unique", "op": "add"}
    ),
    "PATCH /streams/{stream_id}": Row("++-----uuuu", {"stream_id": "$channel", "description": "$unique"}),
    "DELETE /streams/{stream_id}": Row("++-----uuuu", {"stream_id": "$archived"}, "archived already"),
    "GET /streams/{stream_id}/email_address": Row(ANYBODY, {"stream_id": "$channel"}),
    "POST /streams/{stream_id}/email_address": Row(ANYBODY, {"stream_id": "$channel"}),
    "DELETE /streams/{stream_id}/email_address": Row(ANYBODY, {"stream_id": "$channel"}),
    "POST /user_topics": Row(ANYBODY, {"stream_id": "$channel", "topic": "tea", "visibility_policy": "1"}),
    # invitations
    "GET /invites": Row(HUMAN_MEMBERS),
    "POST /invites": Row(HUMAN_MEMBERS, {"invitee_emails": "$unique_email", "stream_ids": "[]"}),
    "POST /invites/multiuse": Row("++---gbuuuu", {"stream_ids": "[]"}),
    "POST /invites/personal": Row(HUMAN_ADMINISTRATORS, {"invitee_emails": "$unique_email"}, "sends mail"),
    "DELETE /invites/{invite_id}": Row(HUMAN_MEMBERS, {"invite_id": "0"}, "No such invitation"),
    "DELETE /invites/multiuse/{invite_id}": Row(HUMAN_MEMBERS, {"invite_id": "0"}, "No such invitation"),
    "POST /invites/{invite_id}/resend": Row(HUMAN_MEMBERS, {"invite_id": "0"}, "No such invitation"),
    "GET /signups/{key}": Row(EVERYBODY, {"key": "x"}, "not good"),
    "POST /signups": Row(EVERYBODY, {"email": "nobody"}, "valid email"),
    "POST /signups/{key}": Row(EVERYBODY, {"key": "x", "full_name": "Ada", "password": "y"}, "not good"),
    "POST /beginnings/look": Row(EVERYBODY, {"key": "x"}, "not good"),
    "POST /beginnings": Row(
        EVERYBODY,
        {"key": "x", "realm_name": "y", "email": "y", "full_name": "y", "password": "y", "channels": '["y"]'},
        "not good",
    ),
    "GET outside /join": Row(EVERYBODY, {"plain": "true"}, "need an invitation"),
    "GET outside /join/{key}": Row(EVERYBODY, {"key": "x", "plain": "true"}, "not good"),
    "POST outside /join/address": Row(EVERYBODY, {"email": "nobody"}, "valid email"),
    "POST outside /join": Row(EVERYBODY, {"key": "x", "full_name": "Ada", "password": "y"}, "not good"),
    # messages
    "POST /messages": Row(SENDERS, {"type": "direct", "to": "[$bystander]", "content": "Hello"}),
    "POST /messages/render": Row(ANYBODY, {"content": "**Hello**"}),
    "GET /messages": Row(ANYBODY, {"anchor": "newest"}),
    "GET /messages/matches_narrow": Row(ANYBODY, {"msg_ids": "[$message]", "narrow": "[]"}),
    "GET /messages/{message_id}": Row(ANYBODY, {"message_id": "$message"}),
    "PATCH /messages/{message_id}": Row(ANYBODY, {"message_id": "$message"}, "nothing to change"),
    "DELETE /messages/{message_id}": Row(ANYBODY, {"message_id": "1"}, "Invalid message"),
    "DELETE /messages/{message_id}/link_previews": Row(
        ANYBODY, {"message_id": "1", "url": "https://a.example/"}, "Invalid message"
    ),
    "GET /messages/{message_id}/history": Row(ANYBODY, {"message_id": "$message"}),
    "POST /streams/{stream_id}/delete_topic": Row(
        ADMINISTRATORS, {"stream_id": "999999999", "topic_name": "x"}, "There is no channel"
    ),
    "POST /messages/flags": Row(ANYBODY, {"messages": "[$message]", "op": "add", "flag": "read"}),
    "POST /messages/flags/narrow": Row(
        ANYBODY,
        {"anchor": "newest", "num_before": "1", "num_after": "0", "narrow": "[]", "op": "add", "flag": "read"},
    ),
    "GET /messages/{message_id}/read_receipts": Row(ANYBODY, {"message_id": "$message"}, "eceipts"),
    "POST /mark_all_as_read": Row(ANYBODY),
    "POST /mark_stream_as_read": Row(ANYBODY, {"stream_id": "$channel"}),
    "POST /mark_topic_as_read": Row(ANYBODY, {"stream_id": "$channel", "topic_name": "tea"}),
    # drafts, snippets, typing
    "GET /drafts": Row(HUMANS),
    "POST /drafts": Row(HUMANS, {"drafts": "[]"}),
    "PATCH /drafts/{draft_id}": Row(
        HUMANS, {"draft_id": "0", "draft": '{"type": "", "to": [], "topic": "", "content": "x"}'}, "raft"
    ),
    "DELETE /drafts/{draft_id}": Row(HUMANS, {"draft_id": "0"}, "raft"),
    "GET /saved_snippets": Row(HUMANS),
    "POST /saved_snippets": Row(HUMANS, {"title": "t", "content": "c"}),
    "PATCH /saved_snippets/{saved_snippet_id}": Row(HUMANS, {"saved_snippet_id": "0", "title": "t"}, "nippet"),
    "DELETE /saved_snippets/{saved_snippet_id}": Row(HUMANS, {"saved_snippet_id": "0"}, "nippet"),
    "POST /typing": Row(ANYBODY, {"op": "start", "to": "[$bystander]"}),
    "POST /messages/{message_id}/typing": Row(ANYBODY, {"message_id": "1", "op": "start"}, "Invalid message"),
    # reactions, widgets
    "POST /messages/{message_id}/reactions": Row(ANYBODY, {"message_id": "$message", "emoji_name": "nope"}, "no emoji"),
    "DELETE /messages/{message_id}/reactions": Row(
        ANYBODY, {"message_id": "$message", "emoji_name": "nope"}, "no emoji"
    ),
    "POST /submessage": Row(ANYBODY, {"message_id": "$message", "msg_type": "widget", "content": "{}"}, "no poll"),
    # pins
    "POST /messages/{message_id}/pin": Row(MEMBERS, {"message_id": "1"}, "Invalid message"),
    "DELETE /messages/{message_id}/pin": Row(MEMBERS, {"message_id": "1"}, "Invalid message"),
    "GET /messages/{message_id}/pins": Row(ANYBODY, {"message_id": "$message"}),
    # reports
    "POST /messages/{message_id}/report": Row(HUMANS, {"message_id": "1", "report_type": "spam"}, "Invalid message"),
    # what bots remember, tokens of phones, exports, playgrounds
    "GET /bot_storage": Row(ANYBODY),
    "PUT /bot_storage": Row(ANYBODY, {"storage": '{"key": "value"}'}),
    "DELETE /bot_storage": Row(ANYBODY),
    "POST /users/me/apns_device_token": Row(HUMANS, {"token": "x", "appid": "y"}),
    "DELETE /users/me/apns_device_token": Row(HUMANS, {"token": "x"}),
    "POST /users/me/android_gcm_reg_id": Row(HUMANS, {"token": "x"}),
    "DELETE /users/me/android_gcm_reg_id": Row(HUMANS, {"token": "x"}),
    "GET /export/realm": Row(ADMINISTRATORS),
    "POST /export/realm": Row(HUMAN_ADMINISTRATORS, {"export_type": "1"}, "REAUTHENTICATION_REQUIRED"),
    "DELETE /export/realm/{export_id}": Row(ADMINISTRATORS, {"export_id": "0"}, "no such export"),
    "GET /export/realm/consents": Row(ADMINISTRATORS),
    "POST /export/own": Row(HUMANS, {}, "REAUTHENTICATION_REQUIRED"),
    "GET /export/own": Row(HUMANS),
    "DELETE /export/own/{export_id}": Row(HUMANS, {"export_id": "0"}, "no such export"),
    "GET /exports/{export_id}/{name}": Row(HUMANS, {"export_id": "0", "name": "x.tar"}, "nothing at"),
    "GET outside /exports/temporary/{export_id}/{user_id}/{ticket}/{name}": Row(
        EVERYBODY, {"export_id": "0", "user_id": "1", "ticket": "1-a", "name": "x.tar"}, "nothing at"
    ),
    "GET outside /exports/{export_id}/{name}": Row(HUMANS, {"export_id": "0", "name": "x.tar"}, "nothing at"),
    "POST /realm/playgrounds": Row(
        ADMINISTRATORS, {"name": "$unique_word", "pygments_language": "C", "url_template": "x"}, "URL template"
    ),
    "DELETE /realm/playgrounds/{playground_id}": Row(ADMINISTRATORS, {"playground_id": "0"}, "no such playground"),
    # linkifiers
    "GET /realm/filters": Row(ANYBODY),
    "GET /realm/linkifiers": Row(ANYBODY),
    "POST /realm/filters": Row(ADMINISTRATORS, {"pattern": "(", "url_template": "https://example.com"}, "expression"),
    "PATCH /realm/filters/{filter_id}": Row(ADMINISTRATORS, {"filter_id": "0", "pattern": "x"}, "no such linkifier"),
    "DELETE /realm/filters/{filter_id}": Row(ADMINISTRATORS, {"filter_id": "0"}, "no such linkifier"),
    "PATCH /realm/linkifiers": Row(ADMINISTRATORS, {"ordered_linkifier_ids": "[0]"}, "each linkifier once"),
    # scheduled messages, reminders
    "GET /scheduled_messages": Row(ANYBODY),
    "POST /scheduled_messages": Row(
        ANYBODY, {"type": "direct", "to": "[$bystander]", "content": "x", "scheduled_delivery_timestamp": "1"}, "future"
    ),
    "PATCH /scheduled_messages/{scheduled_message_id}": Row(
        ANYBODY, {"scheduled_message_id": "0", "content": "x"}, "no such scheduled"
    ),
    "DELETE /scheduled_messages/{scheduled_message_id}": Row(
        ANYBODY, {"scheduled_message_id": "0"}, "no such scheduled"
    ),
    "GET /reminders": Row(HUMANS),
    "POST /reminders": Row(HUMANS, {"message_id": "$message", "scheduled_delivery_timestamp": "1"}, "future"),
    "DELETE /reminders/{reminder_id}": Row(HUMANS, {"reminder_id": "0"}, "no such reminder"),
    # custom emoji
    "GET /realm/emoji": Row(ANYBODY),
    "POST /realm/emoji/{emoji_name}": Row(HUMAN_MEMBERS, {"emoji_name": "party"}, "exactly one file"),
    "DELETE /realm/emoji/{emoji_name}": Row(HUMAN_MEMBERS, {"emoji_name": "nope"}, "no custom emoji"),
    # statuses
    "POST /users/me/status": Row(HUMANS, {"status_text": "busy"}),
    "POST /users/{user_id}/status": Row(ADMINISTRATORS, {"user_id": "$bystander", "status_text": "busy"}),
    "GET /users/{user_id}/status": Row(ANYBODY, {"user_id": "$member"}),
    # presence
    "POST /users/me/presence": Row(HUMANS, {"status": "active"}),
    "GET /realm/presence": Row(ANYBODY),
    "GET /users/{user_id}/presence": Row(ANYBODY, {"user_id": "$bystander"}, "resence"),
    "GET /users/{email}/presence": Row(ANYBODY, {"email": "nobody@example.com"}, "No such user"),
    # files
    "POST /user_uploads": Row(ANYBODY, {}, "specify a file"),
    "GET /attachments": Row(ANYBODY),
    "DELETE /attachments/{attachment_id}": Row(ANYBODY, {"attachment_id": "0"}, "Invalid attachment"),
    "GET outside /user_uploads/{realm_id}/{part}/{secret}/{name}": Row(ANYBODY, _FILE, "nothing at"),
    "GET outside /user_uploads/thumbnail/{realm_id}/{part}/{secret}/{name}/{form}": Row(
        ANYBODY, {**_FILE, "form": "840x560.webp"}, "nothing at"
    ),
    "GET outside /user_uploads/temporary/{attachment_id}/{ticket}/{name}": Row(
        EVERYBODY, {"attachment_id": "1", "ticket": "1-a", "name": "x.txt"}, "nothing at"
    ),
    "GET /user_uploads/{realm_id}/{part}/{secret}/{name}": Row(ANYBODY, _FILE, "nothing at"),
    "GET /thumbnail/status/{realm_id}/{part}/{secret}/{name}": Row(ANYBODY, _FILE, "nothing at"),
    # public pages; the server of these tests is not open to the web
    "GET outside /public": Row(EVERYBODY, {}, "nothing"),
    "GET outside /public/": Row(EVERYBODY, {}, "nothing"),
    "GET outside /public/channels/{channel_id}": Row(EVERYBODY, {"channel_id": "1"}, "nothing"),
    "GET outside /public/channels/{channel_id}/feed.atom": Row(EVERYBODY, {"channel_id": "1"}, "nothing"),
    "GET outside /public/channels/{channel_id}/topics/{topic_id}": Row(EVERYBODY, _TOPIC, "nothing"),
    "GET outside /public/channels/{channel_id}/topics/{topic_id}/feed.atom": Row(EVERYBODY, _TOPIC, "nothing"),
    "GET outside /public/messages/{message_id}": Row(EVERYBODY, {"message_id": "1"}, "nothing"),
    "GET outside /public/sitemaps/channels.xml": Row(EVERYBODY, {}, "nothing"),
    "GET outside /public/sitemaps/channels/{channel_id}/{first}.xml": Row(
        EVERYBODY, {"channel_id": "1", "first": "1"}, "nothing"
    ),
    "GET outside /public/style/{digest}.css": Row(EVERYBODY, {"digest": "none"}, "nothing"),
    "GET outside /sitemap.xml": Row(EVERYBODY, {}, "nothing"),
    "GET outside /robots.txt": Row(EVERYBODY, {}, "nothing"),
    "GET outside /llms.txt": Row(EVERYBODY, {}, "nothing"),
    "POST /tus": Row(ANYBODY, {}, "Upload-Length"),
    "POST /tus/": Row(ANYBODY, {}, "Upload-Length"),
    "GET /tus/{upload_id}": Row(ANYBODY, {"upload_id": "none"}, "no such upload"),
    "PATCH /tus/{upload_id}": Row(ANYBODY, {"upload_id": "none"}, "no such upload"),
    "DELETE /tus/{upload_id}": Row(ANYBODY, {"upload_id": "none"}, "no such upload"),
    # events
    "POST /register": Row(ANYBODY, {"event_types": "[]", "fetch_event_types": "[]"}),
    "GET /events": Row(ANYBODY, {"queue_id": "none", "last_event_id": "0"}, "Bad event queue id"),
    "DELETE /events": Row(ANYBODY, {"queue_id": "none"}, "Bad event queue id"),
    # scim
    "GET /scim/tokens": Row(HUMAN_OWNERS),
    "POST /scim/tokens": Row(HUMAN_OWNERS, {"label": "x"}, "REAUTHENTICATION_REQUIRED"),
    "DELETE /scim/tokens/{token_id}": Row(HUMAN_OWNERS, {"token_id": "1"}, "REAUTHENTICATION_REQUIRED"),
    "GET outside /scim/v2/ServiceProviderConfig": Row(DIRECTORIES),
    "GET outside /scim/v2/Schemas": Row(DIRECTORIES),
    "GET outside /scim/v2/Schemas/{id}": Row(DIRECTORIES, {"id": "x"}),
    "GET outside /scim/v2/ResourceTypes": Row(DIRECTORIES),
    "GET outside /scim/v2/ResourceTypes/{id}": Row(DIRECTORIES, {"id": "User"}),
    "GET outside /scim/v2/Me": Row(DIRECTORIES),
    "POST outside /scim/v2/Bulk": Row(DIRECTORIES),
    "POST outside /scim/v2/.search": Row(DIRECTORIES),
    "GET outside /scim/v2/Users": Row(DIRECTORIES),
    "POST outside /scim/v2/Users/.search": Row(DIRECTORIES),
    "POST outside /scim/v2/Users": Row(DIRECTORIES),
    "GET outside /scim/v2/Users/{id}": Row(DIRECTORIES, {"id": "$member"}),
    "PUT outside /scim/v2/Users/{id}": Row(DIRECTORIES, {"id": "$member"}),
    "PATCH outside /scim/v2/Users/{id}": Row(DIRECTORIES, {"id": "$member"}),
    "DELETE outside /scim/v2/Users/{id}": Row(DIRECTORIES, {"id": "$member"}),
    "GET outside /scim/v2/Groups": Row(DIRECTORIES),
    "POST outside /scim/v2/Groups/.search": Row(DIRECTORIES),
    "POST outside /scim/v2/Groups": Row(DIRECTORIES),
    "GET outside /scim/v2/Groups/{id}": Row(DIRECTORIES, {"id": "$group"}),
    "PUT outside /scim/v2/Groups/{id}": Row(DIRECTORIES, {"id": "$group"}),
    "PATCH outside /scim/v2/Groups/{id}": Row(DIRECTORIES, {"id": "$group"}),
    "DELETE outside /scim/v2/Groups/{id}": Row(DIRECTORIES, {"id": "$group"}),
}
