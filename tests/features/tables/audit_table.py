"""Which endpoint writes which entries of the audit log: one line for each endpoint that changes something.

Either it notes what was done, or it says why not. tests/rules/test_audit.py fails for an endpoint without a line, and for a line
whose acts the endpoint's code does not come to; tests/features/organization/test_audit_log.py does all of them.
"""

from tertulia.organization.audit_log import Act

_SUBSCRIBING = (Act.CHANNEL_CREATED, Act.CHANNEL_SUBSCRIBED)
_OWN_SETTINGS = (
    *(Act.USER_CHANGED, Act.USER_EMAIL_CHANGE_ASKED, Act.PASSWORD_CHANGED, Act.SESSION_ENDED, Act.KEY_ENDED),
    Act.PROOF_FAILED,
)
_RESET = (Act.PASSWORD_RESET, Act.SESSION_ENDED, Act.KEY_ENDED)
_SIGNED_UP = (Act.USER_CREATED, Act.LOGIN_SUCCEEDED)
_USER = (Act.USER_CHANGED, Act.USER_ROLE_CHANGED, Act.USER_EMAIL_CHANGED, Act.USER_PROFILE_CHANGED)

_SCIM_USER = (Act.USER_CHANGED, Act.USER_EMAIL_CHANGED, Act.USER_DEACTIVATED, Act.USER_REACTIVATED)
_SCIM_GROUP = (Act.GROUP_CHANGED, Act.GROUP_MEMBERS_CHANGED)

NOTED: dict[str, tuple[Act, ...]] = {
    # directories
    "POST /scim/tokens": (Act.SCIM_TOKEN_MADE, Act.PROOF_FAILED),
    "DELETE /scim/tokens/{token_id}": (Act.SCIM_TOKEN_REVOKED, Act.PROOF_FAILED),
    "POST outside /scim/v2/Users": (Act.USER_CREATED, *_SCIM_USER),
    "PUT outside /scim/v2/Users/{id}": _SCIM_USER,
    "PATCH outside /scim/v2/Users/{id}": _SCIM_USER,
    "DELETE outside /scim/v2/Users/{id}": (Act.USER_DEACTIVATED,),
    "POST outside /scim/v2/Groups": (Act.GROUP_CREATED, Act.GROUP_REACTIVATED, *_SCIM_GROUP),
    "PUT outside /scim/v2/Groups/{id}": _SCIM_GROUP,
    "PATCH outside /scim/v2/Groups/{id}": _SCIM_GROUP,
    "DELETE outside /scim/v2/Groups/{id}": (Act.GROUP_DEACTIVATED,),
    # the organization
    "PATCH /realm": (Act.REALM_CHANGED, Act.REALM_PERMISSIONS_CHANGED),
    "PATCH /realm/user_settings_defaults": (Act.REALM_DEFAULTS_CHANGED,),
    "POST /realm/domains": (Act.DOMAIN_ADDED,),
    "PATCH /realm/domains/{domain}": (Act.DOMAIN_CHANGED,),
    "DELETE /realm/domains/{domain}": (Act.DOMAIN_REMOVED,),
    "POST /realm/icon": (Act.REALM_PICTURE_CHANGED,),
    "DELETE /realm/icon": (Act.REALM_PICTURE_CHANGED,),
    "POST /realm/logo": (Act.REALM_PICTURE_CHANGED,),
    "DELETE /realm/logo": (Act.REALM_PICTURE_CHANGED,),
    "POST /realm/emoji/{emoji_name}": (Act.EMOJI_ADDED,),
    "DELETE /realm/emoji/{emoji_name}": (Act.EMOJI_DEACTIVATED,),
    "POST /realm/filters": (Act.LINKIFIER_ADDED,),
    "PATCH /realm/filters/{filter_id}": (Act.LINKIFIER_CHANGED,),
    "DELETE /realm/filters/{filter_id}": (Act.LINKIFIER_REMOVED,),
    "PATCH /realm/linkifiers": (Act.LINKIFIER_CHANGED,),
    "POST /realm/playgrounds": (Act.PLAYGROUND_ADDED,),
    "DELETE /realm/playgrounds/{playground_id}": (Act.PLAYGROUND_REMOVED,),
    "POST /realm/profile_fields": (Act.PROFILE_FIELD_CREATED,),
    "PATCH /realm/profile_fields": (Act.PROFILE_FIELD_CHANGED,),
    "PATCH /realm/profile_fields/{field_id}": (Act.PROFILE_FIELD_CHANGED,),
    "DELETE /realm/profile_fields/{field_id}": (Act.PROFILE_FIELD_DELETED,),
    # erasing people, and holding them
    "POST /users/{user_id}/erase": (Act.USER_ERASED, Act.USER_DEACTIVATED, Act.PROOF_FAILED),
    "POST /legal_holds": (Act.HOLD_ADDED, Act.PROOF_FAILED),
    "DELETE /legal_holds/{hold_id}": (Act.HOLD_REMOVED, Act.PROOF_FAILED),
    # exports; fetching one is noted too
    "POST /export/realm": (Act.EXPORT_ASKED, Act.PROOF_FAILED),
    "DELETE /export/realm/{export_id}": (Act.EXPORT_DELETED,),
    "POST /export/own": (Act.EXPORT_ASKED, Act.PROOF_FAILED),
    "DELETE /export/own/{export_id}": (Act.EXPORT_DELETED,),
    # groups
    "POST /user_groups/create": (Act.GROUP_CREATED,),
    "PATCH /user_groups/{user_group_id}": (Act.GROUP_CHANGED, Act.GROUP_REACTIVATED),
    "POST /user_groups/{user_group_id}/deactivate": (Act.GROUP_DEACTIVATED,),
    "DELETE /user_groups/{user_group_id}": (Act.GROUP_DEACTIVATED,),
    "POST /user_groups/{user_group_id}/members": (Act.GROUP_MEMBERS_CHANGED,),
    "POST /user_groups/{user_group_id}/subgroups": (Act.GROUP_MEMBERS_CHANGED,),
    # users and bots
    "POST /users": (Act.USER_CREATED,),
    "PATCH /users/{user_id}": _USER,
    "PATCH /users/{email}": _USER,
    "DELETE /users/me": (Act.USER_DEACTIVATED, Act.PROOF_FAILED),
    "DELETE /users/{user_id}": (Act.USER_DEACTIVATED,),
    "POST /users/{user_id}/reactivate": (Act.USER_REACTIVATED, Act.BOT_OWNER_CHANGED),
    "POST /users/{user_id}/status": (Act.USER_STATUS_CHANGED,),
    "POST /bots": (Act.BOT_CREATED, Act.KEY_MADE),
    "PATCH /bots/{bot_id}": (Act.BOT_CHANGED, Act.BOT_OWNER_CHANGED, Act.USER_CHANGED, Act.USER_ROLE_CHANGED),
    "DELETE /bots/{bot_id}": (Act.USER_DEACTIVATED,),
    "POST /bots/{bot_id}/api_key/regenerate": (Act.KEY_MADE, Act.KEY_ENDED),
    "POST /bots/{bot_id}/webhook_secret": (Act.BOT_CHANGED,),
    # logging in, and what that needs
    "POST /fetch_api_key": (Act.LOGIN_SUCCEEDED, Act.LOGIN_FAILED, Act.KEY_MADE),
    "POST /sessions": (Act.LOGIN_SUCCEEDED, Act.LOGIN_FAILED, Act.RECOVERY_CODE_USED),
    "POST /sessions/factor": (Act.LOGIN_FAILED,),
    "POST outside /accounts/login/oidc/{provider}/code": (Act.LOGIN_SUCCEEDED, Act.LOGIN_FAILED),
    "POST outside /accounts/login/oidc/{provider}/logout": (Act.SESSION_ENDED, Act.KEY_ENDED),
    "DELETE /sessions/current": (Act.SESSION_ENDED,),
    "DELETE /sessions/{session_id}": (Act.SESSION_ENDED, Act.PROOF_FAILED),
    "POST /sessions/end_others": (Act.SESSION_ENDED, Act.KEY_ENDED, Act.PROOF_FAILED),
    "DELETE /sessions": (Act.SESSION_ENDED, Act.PROOF_FAILED),
    "DELETE /users/me/api_keys/{key_id}": (Act.KEY_ENDED, Act.PROOF_FAILED),
    "POST /users/me/api_key/regenerate": (Act.KEY_MADE, Act.KEY_ENDED, Act.PROOF_FAILED),
    "POST /users/me/factors/totp": (Act.PROOF_FAILED,),
    "POST /users/me/factors/totp/confirm": (Act.FACTOR_ADDED, Act.RECOVERY_CODES_RENEWED),
    "POST /users/me/factors/recovery_codes": (Act.RECOVERY_CODES_RENEWED,),
    "DELETE /users/me/factors/totp": (Act.FACTOR_REMOVED,),
    "POST /users/me/passkeys": (Act.FACTOR_ADDED,),
    "DELETE /users/me/passkeys/{passkey_id}": (Act.FACTOR_REMOVED, Act.PROOF_FAILED),
    "POST /sessions/passkey": (Act.LOGIN_SUCCEEDED,),
    "POST /accounts/password/reset": (Act.PASSWORD_RESET_ASKED,),
    "POST /accounts/password/reset/confirm": _RESET,
    "POST outside /accounts/password/reset/confirm": _RESET,
    "POST /accounts/email/confirm": (Act.USER_EMAIL_CHANGED,),
    "POST outside /accounts/email/confirm": (Act.USER_EMAIL_CHANGED,),
    "PATCH /settings": _OWN_SETTINGS,
    "PATCH /settings/display": _OWN_SETTINGS,
    "PATCH /settings/notifications": _OWN_SETTINGS,
    "POST /signups/{key}": _SIGNED_UP,
    "POST outside /join": _SIGNED_UP,
    "POST /beginnings": (*_SIGNED_UP, Act.REALM_CHANGED, Act.CHANNEL_CREATED, Act.CHANNEL_CHANGED),
    # invitations
    "POST /invites": (Act.INVITATION_SENT,),
    "POST /invites/multiuse": (Act.INVITATION_LINK_MADE,),
    "POST /invites/personal": (Act.INVITATION_LINK_MADE,),
    "DELETE /invites/{invite_id}": (Act.INVITATION_REVOKED,),
    "DELETE /invites/multiuse/{invite_id}": (Act.INVITATION_REVOKED,),
    "POST /invites/{invite_id}/resend": (Act.INVITATION_RESENT,),
    # channels
    "POST /channels/create": _SUBSCRIBING,
    "POST /users/me/subscriptions": _SUBSCRIBING,
    "PATCH /users/me/subscriptions": (*_SUBSCRIBING, Act.CHANNEL_UNSUBSCRIBED),
    "DELETE /users/me/subscriptions": (Act.CHANNEL_UNSUBSCRIBED,),
    "PATCH /streams/{stream_id}": (Act.CHANNEL_CHANGED, Act.CHANNEL_UNARCHIVED),
    "DELETE /streams/{stream_id}": (Act.CHANNEL_ARCHIVED,),
    "POST /default_streams": (Act.CHANNEL_CHANGED,),
    "DELETE /default_streams": (Act.CHANNEL_CHANGED,),
    "POST /channel_folders/create": (Act.FOLDER_CREATED,),
    "PATCH /channel_folders": (Act.FOLDER_CHANGED,),
    "PATCH /channel_folders/{channel_folder_id}": (Act.FOLDER_CHANGED,),
    # what others wrote
    "DELETE /messages/{message_id}": (Act.MESSAGE_DELETED,),
    "POST /streams/{stream_id}/delete_topic": (Act.TOPIC_DELETED,),
}

OWN_VIEW = "how somebody sees things themselves, which nobody else notices"
OWN_WORDS = "what somebody writes; messages have their own history"
ABOUT_ONESELF = "what somebody says of themselves, which everybody sees"
OWN_THINGS = "what somebody keeps for themselves"
OWN_ADDRESS = "what is mailed to it is posted as whoever made it, as any message of theirs"
NOTHING = "changes nothing that lasts"
MAIL = "sends a mail to an address without an account; what comes of it is noted"

NOT_NOTED: dict[str, str] = {
    "POST outside /scim/v2/Bulk": "is not done",
    "POST outside /scim/v2/.search": "is not done",
    "POST outside /scim/v2/Users/.search": NOTHING,
    "POST outside /scim/v2/Groups/.search": NOTHING,
    "POST /register": NOTHING,
    "POST /streams/{stream_id}/email_address": OWN_ADDRESS,
    "DELETE /streams/{stream_id}/email_address": OWN_ADDRESS,
    "POST /users/me/passkeys/options": "a challenge for the next call, which is noted",
    "POST /sessions/passkey/options": "a challenge for the next call, which is noted",
    "PATCH /users/me/passkeys/{passkey_id}": OWN_VIEW,
    "DELETE /events": NOTHING,
    "POST /messages/render": NOTHING,
    "POST /beginnings/look": NOTHING,
    "POST /typing": NOTHING,
    "POST /messages/{message_id}/typing": NOTHING,
    "POST /users/me/presence": NOTHING,
    "POST /signups": MAIL,
    "POST outside /join/address": MAIL,
    "POST /messages": OWN_WORDS,
    "PATCH /messages/{message_id}": OWN_WORDS,
    "DELETE /messages/{message_id}/link_previews": OWN_WORDS,
    "POST /external/{integration}": OWN_WORDS,
    "POST /submessage": OWN_WORDS,
    "POST /messages/{message_id}/reactions": OWN_WORDS,
    "DELETE /messages/{message_id}/reactions": OWN_WORDS,
    "POST /messages/{message_id}/pin": OWN_WORDS,
    "DELETE /messages/{message_id}/pin": OWN_WORDS,
    "POST /messages/{message_id}/report": "a message in the channel for it, which moderators read",
    "POST /scheduled_messages": OWN_WORDS,
    "PATCH /scheduled_messages/{scheduled_message_id}": OWN_WORDS,
    "DELETE /scheduled_messages/{scheduled_message_id}": OWN_WORDS,
    "POST /users/me/avatar": ABOUT_ONESELF,
    "DELETE /users/me/avatar": ABOUT_ONESELF,
    "PATCH /users/me/profile_data": ABOUT_ONESELF,
    "DELETE /users/me/profile_data": ABOUT_ONESELF,
    "POST /users/me/status": ABOUT_ONESELF,
    "POST /users/me/apns_device_token": NOTHING,
    "DELETE /users/me/apns_device_token": NOTHING,
    "POST /users/me/android_gcm_reg_id": NOTHING,
    "DELETE /users/me/android_gcm_reg_id": NOTHING,
    "POST /users/me/alert_words": OWN_VIEW,
    "DELETE /users/me/alert_words": OWN_VIEW,
    "POST /users/me/muted_users/{muted_user_id}": OWN_VIEW,
    "DELETE /users/me/muted_users/{muted_user_id}": OWN_VIEW,
    "POST /users/me/subscriptions/properties": OWN_VIEW,
    "PATCH /users/me/subscriptions/{stream_id}": OWN_VIEW,
    "POST /user_topics": OWN_VIEW,
    "PATCH /users/me/subscriptions/muted_topics": OWN_VIEW,
    "POST /messages/flags": OWN_VIEW,
    "POST /messages/flags/narrow": OWN_VIEW,
    "POST /mark_all_as_read": OWN_VIEW,
    "POST /mark_stream_as_read": OWN_VIEW,
    "POST /mark_topic_as_read": OWN_VIEW,
    "POST outside /accounts/unsubscribe/{kind}/{token}": OWN_VIEW,
    "POST /users/me/push_subscriptions": OWN_VIEW,
    "POST /users/me/push_subscriptions/test": OWN_VIEW,
    "DELETE /users/me/push_subscriptions": OWN_VIEW,
    "PUT /bot_storage": OWN_THINGS,
    "DELETE /bot_storage": OWN_THINGS,
    "POST /drafts": OWN_THINGS,
    "PATCH /drafts/{draft_id}": OWN_THINGS,
    "DELETE /drafts/{draft_id}": OWN_THINGS,
    "POST /saved_snippets": OWN_THINGS,
    "PATCH /saved_snippets/{saved_snippet_id}": OWN_THINGS,
    "DELETE /saved_snippets/{saved_snippet_id}": OWN_THINGS,
    "POST /reminders": OWN_THINGS,
    "DELETE /reminders/{reminder_id}": OWN_THINGS,
    "POST /user_uploads": OWN_THINGS,
    "DELETE /attachments/{attachment_id}": OWN_THINGS,
    "POST /tus/": OWN_THINGS,
    "POST /tus": OWN_THINGS,
    "PATCH /tus/{upload_id}": OWN_THINGS,
    "DELETE /tus/{upload_id}": OWN_THINGS,
}

ELSEWHERE = {
    Act.REALM_CREATED: "tertulia realm create",
    Act.HOLD_EXPORTED: "tertulia hold export",
    Act.EXPORT_FETCHED: "GET outside /exports/...",
}
"""Acts that no endpoint does which changes something."""
