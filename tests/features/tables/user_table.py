"""Every parameter that names a user, and a call with it by a guest who does not see everybody.

Asked about a user who is there and hidden, and about one who is not there, the server has to answer alike: whoever cannot
see somebody must not find out that they exist. A parameter whose name speaks of users, or is one of `OTHER_NAMES`, names one
unless `NO_USER` says that it does not. Each gets a line in `CALLS`, or a reason for none in `NO_CALL`.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

OTHER_NAMES = {
    *("to", "narrow", "drafts", "draft", "add", "delete", "members", "subscribers", "principals", "data"),
    *("profile_data", "username", "subscription_data", "bot_id", "bot_owner_id", "invitee_emails"),
}
"""Parameters that name users, though they are not called so."""

NO_USER = re.compile(
    r"user_group_id|user_list_style|enable_\w+|disallow_\w+|emails_restricted_to_domains|email_changes_disabled"
    r"|read_by_sender|workplace_users_group|display_emoji_reaction_users|left_side_userlist|email_address_visibility"
    r"|email_notifications_batching_period_seconds|message_content_\w+|realm_name_in_email_notifications_policy"
    r"|send_welcome_emails|digest_emails_enabled|editable_by_user|use_for_user_matching|new_user_input|can_\w+"
    r"|include_\w+|event_types|fetch_event_types|user_settings_object|new_email|email_notifications|wildcard_\w+"
)
"""Parameters that speak of users and name none: switches, groups. Those of group settings have a line of their own."""

GROUP_VALUES = "group settings"
"""The line of all parameters that take a group-setting value, in which users may be named."""


def names_a_user(parameter: str) -> bool:
    """Whether a parameter of this name takes a user."""
    is_called_so = re.search(r"user|email|sender", parameter) and not NO_USER.fullmatch(parameter)
    return bool(is_called_so) or parameter in OTHER_NAMES


class Ask(NamedTuple):
    """A call about a user. `<user>` and `<email>` are filled in, in the path and in fields; others are things of the scene."""

    method: str
    path: str
    fields: Mapping[str, Any]


def _ask(method: str, path: str, **fields: Any) -> Ask:
    return Ask(method, path, fields)


def _narrows(method: str, path: str, **fields: Any) -> list[Ask]:
    operands: list[tuple[str, Any]] = [(name, "<user>") for name in ("sender", "dm-including", "mentions")]
    operands += [(name, ["<user>"]) for name in ("dm",)]
    operands += [(name, "<email>") for name in ("sender", "dm", "dm-including", "pm-with", "group-pm-with", "from")]
    return [
        Ask(method, path, {**fields, "narrow": [{"operator": operator, "operand": operand}]})
        for operator, operand in operands
    ]


_WINDOW = {"anchor": "newest", "num_before": 1, "num_after": 0}
_SCHEDULED = {"type": "direct", "content": "x", "scheduled_delivery_timestamp": 4_000_000_000}
_DRAFT = {"type": "private", "to": ["<user>"], "topic": "", "content": "x"}
_ME = "users/me/subscriptions"
_SUBSCRIBE = {"subscriptions": [{"name": "<channel>"}]}
_VALUE = {"new": {"direct_members": ["<user>"], "direct_subgroups": []}}

CALLS: dict[str, list[Ask]] = {
    # People
    "GET /users user_ids": [_ask("GET", "users", user_ids=["<user>"])],
    "GET /users/{user_id} user_id": [_ask("GET", "users/<user>")],
    "GET /users/{email} email": [_ask("GET", "users/<email>")],
    "PATCH /users/{user_id} user_id": [_ask("PATCH", "users/<user>", full_name="Anna"), _ask("PATCH", "users/<user>")],
    "PATCH /users/{email} email": [_ask("PATCH", "users/<email>", full_name="Anna")],
    "PATCH /users/{user_id} profile_data": [
        _ask("PATCH", "users/<guest_id>", profile_data=[{"id": "<field>", "value": ["<user>"]}])
    ],
    "PATCH /users/{email} profile_data": [
        _ask("PATCH", "users/<guest_email>", profile_data=[{"id": "<field>", "value": ["<user>"]}])
    ],
    "DELETE /users/{user_id} user_id": [_ask("DELETE", "users/<user>")],
    "POST /users/{user_id}/reactivate user_id": [_ask("POST", "users/<user>/reactivate")],
    "GET /users/{user_id}/presence user_id": [_ask("GET", "users/<user>/presence")],
    "GET /users/{email}/presence email": [_ask("GET", "users/<email>/presence")],
    "GET /users/{user_id}/status user_id": [_ask("GET", "users/<user>/status")],
    "POST /users/{user_id}/status user_id": [_ask("POST", "users/<user>/status", status_text="x")],
    "PATCH /users/me/profile_data data": [
        _ask("PATCH", "users/me/profile_data", data=[{"id": "<field>", "value": ["<user>"]}])
    ],
    "POST /users/me/muted_users/{muted_user_id} muted_user_id": [_ask("POST", "users/me/muted_users/<user>")],
    "DELETE /users/me/muted_users/{muted_user_id} muted_user_id": [_ask("DELETE", "users/me/muted_users/<user>")],
    # Bots
    "PATCH /bots/{bot_id} bot_id": [_ask("PATCH", "bots/<user>", full_name="B")],
    "PATCH /bots/{bot_id} bot_owner_id": [_ask("PATCH", "bots/<bot_id>", bot_owner_id="<user>")],
    "DELETE /bots/{bot_id} bot_id": [_ask("DELETE", "bots/<user>")],
    "GET /bots/{bot_id}/api_key bot_id": [_ask("GET", "bots/<user>/api_key")],
    "POST /bots/{bot_id}/api_key/regenerate bot_id": [_ask("POST", "bots/<user>/api_key/regenerate")],
    "POST /bots/{bot_id}/webhook_secret bot_id": [
        _ask("POST", "bots/<user>/webhook_secret", integration="github", secret="x" * 20)
    ],
    # Groups
    "POST /user_groups/create members": [
        _ask("POST", "user_groups/create", name="<unique>", description="", members=["<user>"])
    ],
    "POST /user_groups/{user_group_id}/members add": [_ask("POST", "user_groups/<group_id>/members", add=["<user>"])],
    "POST /user_groups/{user_group_id}/members delete": [
        _ask("POST", "user_groups/<group_id>/members", delete=["<user>"])
    ],
    "GET /user_groups/{user_group_id}/members/{user_id} user_id": [
        _ask("GET", "user_groups/<group_id>/members/<user>"),
        _ask("GET", "user_groups/<everyone_id>/members/<user>"),
    ],
    GROUP_VALUES: [
        _ask("PATCH", "user_groups/<group_id>", can_join_group=_VALUE),
        _ask("PATCH", "streams/<channel_id>", can_send_message_group=_VALUE),
        _ask("PATCH", "realm", can_create_bots_group=_VALUE),
    ],
    # Channels
    "POST /users/me/subscriptions principals": [
        _ask("POST", _ME, principals=["<user>"], **_SUBSCRIBE),
        _ask("POST", _ME, principals=["<email>"], **_SUBSCRIBE),
        _ask("POST", _ME, principals=["<user>"], subscriptions=[{"name": "<unique>"}]),
    ],
    "DELETE /users/me/subscriptions principals": [
        _ask("DELETE", _ME, principals=["<user>"], subscriptions=["<channel>"]),
        _ask("DELETE", _ME, principals=["<email>"], subscriptions=["<channel>"]),
    ],
    "PATCH /users/me/subscriptions principals": [
        _ask("PATCH", _ME, principals=["<user>"], add=[{"name": "<channel>"}])
    ],
    "POST /channels/create subscribers": [_ask("POST", "channels/create", name="<unique>", subscribers=["<user>"])],
    "GET /users/{user_id}/subscriptions/{stream_id} user_id": [_ask("GET", "users/<user>/subscriptions/<channel_id>")],
    "GET /users/{user_id}/channels user_id": [_ask("GET", "users/<user>/channels")],
    "GET /streams/{stream_id}/email_address sender_id": [
        _ask("GET", "streams/<channel_id>/email_address", sender_id="<user>")
    ],
    "POST /streams/{stream_id}/email_address sender_id": [
        _ask("POST", "streams/<channel_id>/email_address", sender_id="<user>")
    ],
    "DELETE /streams/{stream_id}/email_address sender_id": [
        _ask("DELETE", "streams/<channel_id>/email_address", sender_id="<user>")
    ],
    # Messages
    "POST /messages to": [
        _ask("POST", "messages", type="direct", to=["<user>"], content="x"),
        _ask("POST", "messages", type="direct", to=["<email>"], content="x"),
        _ask("POST", "messages", type="direct", to=["<user>", "<guest_id>"], content="x"),
    ],
    "POST /typing to": [_ask("POST", "typing", op="start", to=["<user>"])],
    "POST /scheduled_messages to": [_ask("POST", "scheduled_messages", to=["<user>"], **_SCHEDULED)],
    "PATCH /scheduled_messages/{scheduled_message_id} to": [
        _ask("PATCH", "scheduled_messages/<scheduled_id>", type="direct", to=["<user>"])
    ],
    "POST /drafts drafts": [_ask("POST", "drafts", drafts=[_DRAFT])],
    "PATCH /drafts/{draft_id} draft": [_ask("PATCH", "drafts/<draft_id>", draft=_DRAFT)],
    "GET /messages narrow": _narrows("GET", "messages", **_WINDOW),
    "GET /messages/matches_narrow narrow": _narrows("GET", "messages/matches_narrow", msg_ids=["<message_id>"]),
    "POST /messages/flags/narrow narrow": _narrows(
        "POST", "messages/flags/narrow", op="add", flag="starred", **{**_WINDOW, "num_before": 0}
    ),
    "POST /register narrow": [
        _ask("POST", "register", event_types=["message"], fetch_event_types=[], narrow=[[operator, "<email>"]])
        for operator in ("sender", "dm")
    ],
}

_NONE = "the address is new, or the caller's own"
_NO_ACCOUNT = "called without an account: the same answer for all (test_logins.py, test_password_reset.py)"
_OWNERS = "for owners, who see everybody"

NO_CALL: dict[str, str] = {
    "POST /users/{user_id}/erase user_id": _OWNERS,
    "GET /users/{user_id}/erasure user_id": _OWNERS,
    "POST /legal_holds user_id": _OWNERS,
    "GET /exports/temporary/{export_id}/{user_id}/{ticket}/{name} user_id": "whose ticket it is: without it nothing is there",
    "POST /users email": _NONE,
    "POST /fetch_api_key username": _NO_ACCOUNT,
    "POST /sessions username": _NO_ACCOUNT,
    "POST /sessions/factor username": _NO_ACCOUNT,
    "POST /accounts/password/reset email": _NO_ACCOUNT,
    "POST /signups email": _NO_ACCOUNT,
    "POST /join/address email": _NO_ACCOUNT,
    "POST /beginnings email": _NO_ACCOUNT,
    "PATCH /settings email": "whether an address is taken cannot be hidden: addresses are unique",
    "PATCH /settings/notifications email": "as PATCH /settings",
    "PATCH /settings/display email": "as PATCH /settings",
    "POST /invites invitee_emails": "guests invite nobody",
    "POST /invites/personal invitee_emails": "guests invite nobody",
    "PATCH /users/me/subscriptions add": "names of channels",
    "PATCH /users/me/subscriptions delete": "names of channels",
    "POST /users/me/subscriptions/properties subscription_data": "settings of channels",
    "POST /user_groups/{user_group_id}/subgroups add": "groups",
    "POST /user_groups/{user_group_id}/subgroups delete": "groups",
    "DELETE /users/me/profile_data data": "fields of one's own profile",
}
