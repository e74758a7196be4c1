"""Every parameter that names a channel, and a call with it: what is asked about a channel that is not there.

A parameter whose name speaks of channels, or is one of `OTHER_NAMES`, takes a channel unless `NO_CHANNEL` says that it does
not. Each gets a line in `CALLS`, or a reason for none in `NO_CALL`. Calls are made by somebody who could make them of a
channel within reach, so the channel is all that is wrong with them.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

OTHER_NAMES = {
    *("to", "narrow", "drafts", "draft", "subscriptions", "subscription_data"),
    *("add", "delete"),
}
"""Parameters that name channels, though they are not called so."""

NO_CHANNEL = re.compile(
    r"can_\w+|channel_folder_id|is_\w+|include_\w+|all_public_streams|default_all_public_streams"
    r"|enable_stream_\w+|send_\w+|demote_inactive_streams|automatically_\w+|web_\w+"
    r"|move_messages_(?:between_streams|within_stream)_limit_seconds"
)
"""Parameters that speak of channels and name none: permissions, switches, folders."""


def names_a_channel(parameter: str) -> bool:
    """Whether a parameter of this name takes a channel."""
    is_called_so = re.search(r"stream|channel", parameter) and not NO_CHANNEL.fullmatch(parameter)
    return bool(is_called_so) or parameter in OTHER_NAMES


class Ask(NamedTuple):
    """A call about a channel. `{channel_id}` in the path and texts in angle brackets are filled in."""

    who: str
    method: str
    path: str
    fields: Mapping[str, Any]
    by_name: bool = False
    """The channel is named by its name, so that `stream` comes back instead of `stream_id`."""
    code: str = "STREAM_DOES_NOT_EXIST"
    sees_private: bool = False
    """The caller knows of every channel of the organization: a private one is none out of reach."""


def _ask(who: str, method: str, path: str, **fields: Any) -> Ask:
    return Ask(who, method, path, fields)


def _named(who: str, method: str, path: str, **fields: Any) -> Ask:
    return Ask(who, method, path, fields, by_name=True)


def _narrow(method: str, path: str, **fields: Any) -> list[Ask]:
    narrows = [[{"operator": "channel", "operand": operand}] for operand in ("<channel_id>", "<name>")]
    return [Ask("member", method, path, {**fields, "narrow": narrow}, code="BAD_NARROW") for narrow in narrows]


def _draft(**more: Any) -> dict[str, Any]:
    return {"type": "stream", "to": ["<channel_id>"], "topic": "tea", "content": "x", **more}


_SCHEDULED = {"topic": "tea", "content": "x", "scheduled_delivery_timestamp": 4_000_000_000}
_WINDOW = {"anchor": "newest", "num_before": 1, "num_after": 0}
_MUTED = "users/me/subscriptions/muted_topics"
_PINNED = {"property": "pin_to_top", "value": True}
_INVITED = {"invite_expires_in_minutes": 10, "invite_as": 400}
_BOT = {"full_name": "<unique>", "short_name": "<unique>"}

CALLS: dict[str, list[Ask]] = {
    # Looking
    "GET /streams/{stream_id} stream_id": [_ask("member", "GET", "streams/{channel_id}")],
    "GET /streams/{stream_id}/members stream_id": [_ask("member", "GET", "streams/{channel_id}/members")],
    "GET /streams/{stream_id}/email_address stream_id": [_ask("member", "GET", "streams/{channel_id}/email_address")],
    "POST /streams/{stream_id}/email_address stream_id": [_ask("member", "POST", "streams/{channel_id}/email_address")],
    "DELETE /streams/{stream_id}/email_address stream_id": [
        _ask("member", "DELETE", "streams/{channel_id}/email_address")
    ],
    "GET /users/{user_id}/subscriptions/{stream_id} stream_id": [
        _ask("member", "GET", "users/{me}/subscriptions/{channel_id}")
    ],
    "GET /get_stream_id stream": [_named("member", "GET", "get_stream_id", stream="<name>")],
    "GET /users/me/{stream_id}/topics stream_id": [_ask("member", "GET", "users/me/{channel_id}/topics")],
    "GET /messages narrow": _narrow("GET", "messages", **_WINDOW),
    "GET /messages/matches_narrow narrow": _narrow("GET", "messages/matches_narrow", msg_ids=["<message_id>"]),
    # Subscriptions
    "DELETE /users/me/subscriptions subscriptions": [
        _named("member", "DELETE", "users/me/subscriptions", subscriptions=["<name>"])
    ],
    "PATCH /users/me/subscriptions delete": [_named("member", "PATCH", "users/me/subscriptions", delete=["<name>"])],
    "POST /users/me/subscriptions/properties subscription_data": [
        _ask(
            "member",
            "POST",
            "users/me/subscriptions/properties",
            subscription_data=[{"stream_id": "<channel_id>", **_PINNED}],
        )
    ],
    "PATCH /users/me/subscriptions/{stream_id} stream_id": [
        _ask("member", "PATCH", "users/me/subscriptions/{channel_id}", **_PINNED)
    ],
    # Changing
    "PATCH /streams/{stream_id} stream_id": [
        _ask("member", "PATCH", "streams/{channel_id}", description="x"),
        _ask("owner", "PATCH", "streams/{channel_id}", description="x")._replace(sees_private=True),
    ],
    "DELETE /streams/{stream_id} stream_id": [_ask("member", "DELETE", "streams/{channel_id}")],
    "POST /default_streams stream_id": [
        _ask("owner", "POST", "default_streams", stream_id="<channel_id>")._replace(sees_private=True)
    ],
    "DELETE /default_streams stream_id": [
        _ask("owner", "DELETE", "default_streams", stream_id="<channel_id>")._replace(sees_private=True)
    ],
    "POST /streams/{stream_id}/delete_topic stream_id": [
        _ask("owner", "POST", "streams/{channel_id}/delete_topic", topic_name="tea")
    ],
    **{
        f"PATCH /realm {name}": [_ask("owner", "PATCH", "realm", **{name: "<channel_id>"})]
        for name in (
            "new_stream_announcements_stream_id",
            "signup_announcements_stream_id",
            "moderation_request_channel_id",
        )
    },
    # Topics and what was read
    "POST /user_topics stream_id": [
        _ask("member", "POST", "user_topics", stream_id="<channel_id>", topic="tea", visibility_policy=policy)
        for policy in (0, 1, 2, 3)
    ],
    f"PATCH /{_MUTED} stream_id": [
        _ask("member", "PATCH", _MUTED, stream_id="<channel_id>", topic="tea", op=op) for op in ("add", "remove")
    ],
    f"PATCH /{_MUTED} stream": [
        _named("member", "PATCH", _MUTED, stream="<name>", topic="tea", op=op) for op in ("add", "remove")
    ],
    "POST /mark_stream_as_read stream_id": [_ask("member", "POST", "mark_stream_as_read", stream_id="<channel_id>")],
    "POST /mark_topic_as_read stream_id": [
        _ask("member", "POST", "mark_topic_as_read", stream_id="<channel_id>", topic_name="tea")
    ],
    "POST /messages/flags/narrow narrow": _narrow(
        "POST", "messages/flags/narrow", **_WINDOW, op="add", flag="starred", include_anchor=True
    ),
    # Writing
    "POST /messages to": [
        _ask("member", "POST", "messages", type="channel", to="<channel_id>", topic="tea", content="x"),
        _ask("member", "POST", "messages", type="stream", to=["<channel_id>"], topic="tea", content="x"),
        _named("member", "POST", "messages", type="channel", to="<name>", topic="tea", content="x"),
    ],
    "PATCH /messages/{message_id} stream_id": [
        _ask("member", "PATCH", "messages/{message_id}", stream_id="<channel_id>")
    ],
    "POST /typing stream_id": [
        _ask("member", "POST", "typing", type="channel", op=op, stream_id="<channel_id>", topic="tea")
        for op in ("start", "stop")
    ],
    "POST /drafts drafts": [_ask("member", "POST", "drafts", drafts=[_draft()])],
    "PATCH /drafts/{draft_id} draft": [_ask("member", "PATCH", "drafts/{draft_id}", draft=_draft())],
    "POST /scheduled_messages to": [
        _ask("member", "POST", "scheduled_messages", type="channel", to="<channel_id>", **_SCHEDULED)
    ],
    "PATCH /scheduled_messages/{scheduled_message_id} to": [
        _ask("member", "PATCH", "scheduled_messages/{scheduled_id}", to="<channel_id>")
    ],
    # Bots, and people who come
    "POST /bots default_sending_stream": [_named("member", "POST", "bots", **_BOT, default_sending_stream="<name>")],
    "POST /bots default_events_register_stream": [
        _named("member", "POST", "bots", **_BOT, default_events_register_stream="<name>")
    ],
    "PATCH /bots/{bot_id} default_sending_stream": [
        _named("member", "PATCH", "bots/{bot_id}", default_sending_stream="<name>")
    ],
    "PATCH /bots/{bot_id} default_events_register_stream": [
        _named("member", "PATCH", "bots/{bot_id}", default_events_register_stream="<name>")
    ],
    "POST /external/{integration} stream": [
        _named("nobody", "POST", "external/json?api_key={bot_key}&stream={name}", payload="{}"),
        _ask("nobody", "POST", "external/json?api_key={bot_key}&stream={channel_id}", payload="{}"),
    ],
    "POST /invites stream_ids": [
        _ask(
            "administrator",
            "POST",
            "invites",
            invitee_emails="new@example.com",
            stream_ids=["<channel_id>"],
            **_INVITED,
        )._replace(sees_private=True),
        _ask("member", "POST", "invites", invitee_emails="new@example.com", stream_ids=["<channel_id>"], **_INVITED),
    ],
    "POST /invites/multiuse stream_ids": [
        _ask("administrator", "POST", "invites/multiuse", stream_ids=["<channel_id>"], **_INVITED)._replace(
            sees_private=True
        )
    ],
}

NO_CALL = {
    "POST /users/me/subscriptions subscriptions": "makes the channel if there is none",
    "PATCH /users/me/subscriptions add": "makes the channel if there is none",
    "POST /beginnings channels": "makes channels of an organization in which nobody is",
    "POST /register narrow": "a filter on what is heard: what it names need not be there",
    **dict.fromkeys(
        (
            "GET /public/channels/{channel_id} channel_id",
            "GET /public/channels/{channel_id}/feed.atom channel_id",
            "GET /public/channels/{channel_id}/topics/{topic_id} channel_id",
            "GET /public/channels/{channel_id}/topics/{topic_id}/feed.atom channel_id",
            "GET /public/sitemaps/channels/{channel_id}/{first}.xml channel_id",
        ),
        "a page and no answer of the API; what is missing looks alike: test_public_pages.py",
    ),
    "POST /invites/personal stream_ids": "only where no mail is sent; what is offered is checked as for POST /invites",
    "POST /typing to": "people",
    "POST /user_groups/{user_group_id}/members add": "people",
    "POST /user_groups/{user_group_id}/members delete": "people",
    "POST /user_groups/{user_group_id}/subgroups add": "groups",
    "POST /user_groups/{user_group_id}/subgroups delete": "groups",
}
