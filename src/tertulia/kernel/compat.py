"""Older names: what programs written for earlier servers of this protocol family send and read, beside ours.

Every older key, spelling and policy number is defined here and nowhere else. Features ask here for the older form of what
they say; `TABLE` names each of them with ours, and the reference page is written from it. Older names are always accepted.
Whether they are sent is the setting `compat_aliases`: without it `without_old` takes them out of every reply and event,
and events that say nothing but an older name (`Audience.old`) are not delivered. `KEPT` are older names that the protocol
itself has: they are sent whatever the setting says.

Invariants
- A key is older only beside the key it stands for, in the same object: `without_old` needs to know no schema.
- Nothing here asks the database or the clock.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec


class Older(NamedTuple):
    """One older name: where it is, what it stands for, and who reads it."""

    old: str
    new: str
    where: str
    note: str = ""


_SERVICE = "server_settings, register, restart event"
_REALM = "register and realm events"
TABLE = (
    Older("zulip_version", "service_version", _SERVICE),
    Older("zulip_feature_level", "service_feature_level", _SERVICE),
    Older("zulip_merge_base", "service_merge_base", _SERVICE),
    Older("zulip_plan_is_not_limited", "service_plan_is_not_limited", "register"),
    Older("realm_zulip_update_announcements_stream_id", "realm_service_update_announcements_stream_id", "register"),
    Older("jitsi_server_url", "server_jitsi_server_url", "register"),
    Older("stream_post_policy", "can_send_message_group", "channels and their events", "a number for the group"),
    Older("is_announcement_only", "can_send_message_group", "channels and their events"),
    Older("can_create_streams", "can_create_public_streams", "register", "true if any kind may be created"),
    Older("sender_id", "other_user_id", "unread_msgs of register"),
    Older("operation", "op", "update_message_flags events"),
    Older("local_message_id", "local_id", "message events"),
    Older("raw_content", "message", "GET /messages/{message_id}", "the text as it was written"),
    Older("uri", "url", "POST /user_uploads"),
    Older("user", "user_id", "reactions and their events", "an object with user_id, email and full_name"),
    Older("realm_mandatory_topics", "realm_topics_policy", _REALM),
    Older("realm_allow_edit_history", "realm_message_edit_history_visibility_policy", _REALM),
    Older("realm_create_public_stream_policy", "realm_can_create_public_channel_group", _REALM),
    Older("realm_create_private_stream_policy", "realm_can_create_private_channel_group", _REALM),
    Older("realm_create_web_public_stream_policy", "realm_can_create_web_public_channel_group", _REALM),
    Older("realm_wildcard_mention_policy", "realm_can_mention_many_users_group", _REALM),
)
"""Keys that stand beside another one in the same object."""

KEPT = (
    Older("realm_uri", "realm_url", "server_settings, register"),
    Older("in_home_view", "is_muted", "subscriptions and their events", "its opposite"),
)
"""Keys that stand beside another one too, and are names of the protocol: the setting does not touch them."""

WHOLE = (
    Older("muted_topics", "user_topics", "register and its event", "the muted ones, by the channel's name"),
    Older(
        "each display and notification setting at the top",
        "user_settings",
        "register",
        "if update_display_settings or update_global_notifications is fetched by name",
    ),
    Older(
        "zulip_extra_emoji",
        "service_extra_emoji",
        "reaction_type, everywhere",
        "sent to clients whose name begins with Zulip",
    ),
    Older(
        "email_address",
        "GET /streams/{stream_id}/email_address",
        "subscriptions of register",
        "empty; sent to clients whose name begins with ZulipTerminal",
    ),
    Older(
        "unknown users, whom the caller does not see",
        "nobody",
        "realm_users of register, realm_user events",
        "for limited guests; not sent to clients with the capability user_list_incomplete",
    ),
)
"""What stands for itself, and is left out or spelt by whoever writes it."""

ACCEPTED = (
    Older("subject", "topic", "POST and PATCH /messages"),
    Older("stream, private", "channel, direct", "the type of a message"),
    Older("zulip_extra_emoji", "service_extra_emoji", "reaction_type, everywhere"),
    Older("in_home_view", "is_muted", "POST /users/me/subscriptions/properties"),
    Older("PATCH with delete and add", "POST and DELETE", "/users/me/subscriptions"),
    Older("two-element lists; stream, pm-with, is:private", "objects; channel, dm, is:dm", "narrows"),
)
"""What is taken from callers, whatever the setting says."""

_STANDS_FOR: dict[str, tuple[str, ...]] = {}
for _one in TABLE:
    _STANDS_FOR[_one.old] = (*_STANDS_FOR.get(_one.old, ()), _one.new)
_SAME = {
    one.new: one.old
    for one in (*TABLE, *KEPT)
    if one.old.startswith(("zulip_", "realm_zulip_")) or one.old in ("realm_uri", "jitsi_server_url")
}

EXTRA_EMOJI = "service_extra_emoji"
OLD_EXTRA_EMOJI = "zulip_extra_emoji"


def with_old_keys(reply: dict[str, Any]) -> dict[str, Any]:
    """A reply with the older names of its keys whose values are the same."""
    return reply | {_SAME[new]: value for new, value in reply.items() if new in _SAME}


def without_old(value: Any) -> Any:
    """Decoded JSON without any older name."""
    if isinstance(value, list):
        return [without_old(one) for one in value]
    if not isinstance(value, dict):
        return value
    if value.get("reaction_type") == OLD_EXTRA_EMOJI:
        value = value | {"reaction_type": EXTRA_EMOJI}
    # What a bot stored is its own, whatever it calls it.
    return {key: one if key == "storage" else without_old(one) for key, one in value.items() if not _is_old(key, value)}


def _is_old(key: str, beside: Mapping[str, Any]) -> bool:
    if key == "user" and "reaction_type" not in beside:
        return False
    return any(new in beside for new in _STANDS_FOR.get(key, ()))


def is_old_property(name: str) -> bool:
    """Whether an event that says `property` with this name is for those who read older names alone."""
    return name in _STANDS_FOR or f"realm_{name}" in _STANDS_FOR


def reply_without_old(result: Any) -> Any:
    """What an endpoint returned, without any older name."""
    return None if result is None else without_old(msgspec.json.decode(msgspec.json.encode(result)))


# Emoji


def emoji_type_of(sent: str) -> str:
    """A type as we spell it, from how a client spells it."""
    return EXTRA_EMOJI if sent == OLD_EXTRA_EMOJI else sent


def emoji_type_for(reaction_type: str, client: str) -> str:
    """A type as a client expects it: existing ones refuse a whole answer for a spelling they do not know."""
    return OLD_EXTRA_EMOJI if reaction_type == EXTRA_EMOJI and client.startswith("Zulip") else reaction_type


# Messages


def old_flag_keys(op: str) -> dict[str, str]:
    """What a change of flags was called."""
    return {"operation": op}


def old_echo_keys(local_id: str) -> dict[str, str]:
    """What the sender's own mark of a message was called."""
    return {"local_message_id": local_id}


def old_text_keys(content: str) -> dict[str, Any]:
    """What the text of a message was called, where it stood beside the message."""
    return {"raw_content": content}


def old_direct_keys(other_user_id: int) -> dict[str, Any]:
    """What the other one in a conversation was called."""
    return {"sender_id": other_user_id}


def old_reaction_keys(user_id: int, email: str, full_name: str) -> dict[str, Any]:
    """Who reacted, in the form that a client still insists on when the reaction is taken back."""
    return {"user": {"user_id": user_id, "email": email, "full_name": full_name}}


# Channels

_ADMINISTRATORS_POST = 2
_POST_POLICIES = {"role:administrators": _ADMINISTRATORS_POST, "role:fullmembers": 3, "role:moderators": 4}


def old_post_keys(group: str | None) -> dict[str, Any]:
    """The old form of who may send, from the name of the group that may; 1 for all it had no word for."""
    policy = _POST_POLICIES.get(group, 1) if group else 1
    return {"stream_post_policy": policy, "is_announcement_only": policy == _ADMINISTRATORS_POST}


def old_mute_keys(*, is_muted: bool) -> dict[str, Any]:
    """What not being muted was called."""
    return {"in_home_view": not is_muted}


def old_mail_keys(client: str) -> dict[str, Any]:
    """A channel's own mail address, without which a client ends when it shows a channel. Empty: each person has their own."""
    return {"email_address": ""} if client.startswith("ZulipTerminal") else {}


# Organizations: numbers for groups. What an older policy had no number for is shown as the strictest that fits.

_COMMON = {"role:members": 1, "role:administrators": 2, "role:fullmembers": 3, "role:moderators": 4}
_STRICT = {**_COMMON, "role:nobody": 6, "role:owners": 7}
_WILDCARD = {
    "role:everyone": 1,
    "role:members": 2,
    "role:fullmembers": 3,
    "role:administrators": 5,
    "role:nobody": 6,
    "role:moderators": 7,
}
_POLICIES: dict[str, tuple[str, dict[str, int], int]] = {
    "can_create_public_channel_group": ("create_public_stream_policy", _COMMON, 2),
    "can_create_private_channel_group": ("create_private_stream_policy", _COMMON, 2),
    "can_create_web_public_channel_group": ("create_web_public_stream_policy", _STRICT, 7),
    "can_mention_many_users_group": ("wildcard_mention_policy", _WILDCARD, 5),
}


def old_policies(groups: Mapping[str, str | None]) -> dict[str, int]:
    """The policies of an organization by their old names, from the names of the system groups that hold the permissions."""
    found = {}
    for setting, (old, numbers, otherwise) in _POLICIES.items():
        if setting in groups:
            found[old] = numbers.get(groups[setting] or "", otherwise)
    return found


def old_realm_settings(topics_policy: str, history_policy: str) -> dict[str, bool]:
    """Settings of an organization that were switches."""
    return {
        "mandatory_topics": topics_policy == "disable_empty_topic",
        "allow_edit_history": history_policy != "none",
    }


OLD_REALM_SETTINGS = {
    "topics_policy": "mandatory_topics",
    "message_edit_history_visibility_policy": "allow_edit_history",
}
"""Which of them follows which setting."""
