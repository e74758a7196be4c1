"""Who may know what of a channel: the table of docs/explanation/channel-privacy.md, and one probe for each endpoint.

Letters: m that the channel is there and what it is; s who is subscribed; c everything said in it; r only what they received.
Everybody but the author and the subscribed is outside now; the former were subscribed for a while.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import httpx

from tests.harness.talk import Speaker

FAR_OFF = 4_000_000_000
KINDS = ("web-public", "public", "shared", "protected")

TABLE: dict[str, tuple[str, str, str, str]] = {
    # person: web-public, public, private with shared history, private with protected history
    "owner": ("msc", "msc", "ms", "ms"),
    "administrator": ("msc", "msc", "ms", "ms"),
    "moderator": ("msc", "msc", "", ""),
    "subscribed member": ("msc", "msc", "msc", "msr"),
    "member": ("msc", "msc", "", ""),
    "former member": ("msc", "msc", "", ""),
    "member who may subscribe": ("msc", "msc", "msc", "msr"),
    "member who may add others": ("msc", "msc", "msc", "msr"),
    "member who administers the channel": ("msc", "msc", "ms", "ms"),
    "subscribed guest": ("msc", "msc", "msc", "msr"),
    "guest": ("mc", "", "", ""),
    "former guest": ("mc", "", "", ""),
    "bot": ("msc", "msc", "", ""),
    "member of another organization": ("", "", "", ""),
}
RECEIVED = {
    "subscribed member": {"middle", "late"},
    "subscribed guest": {"middle", "late"},
    "member who may subscribe": set[str](),
    "member who may add others": set[str](),
}
"""What those with the letter r received of what was said."""

KEPT = {"former member": {"middle"}, "former guest": {"middle"}}
"""What those who left had received: their own flags on it stay theirs, so that they can take a star away."""


class Target(NamedTuple):
    """What a probe names: a channel with a message in it, or ones that do not exist."""

    channel_id: int
    name: str
    message_id: int
    topic: str

    def hide(self, text: str) -> str:
        """A reply without the names it was asked for."""
        for own in (self.name, self.topic, str(self.message_id), str(self.channel_id)):
            text = re.sub(rf"(?<!\d){re.escape(own)}(?!\d)", "*", text)
        return text


class Probe(NamedTuple):
    """A request, and the letter with which it succeeds; `c` stands for c or r. Without a letter nothing is expected of those
    who see the channel but that nothing comes out."""

    ask: Callable[[Speaker, Target], httpx.Response]
    opens: str = ""


def _get(path: str, **fields: Any) -> Callable[[Speaker, Target], httpx.Response]:
    return _ask("GET", path, **fields)


def _ask(method: str, path: str, **fields: Any) -> Callable[[Speaker, Target], httpx.Response]:
    def ask(speaker: Speaker, target: Target) -> httpx.Response:
        values = {"me": speaker.id, **target._asdict()}
        filled = {name: _fill(value, values) for name, value in fields.items()}
        return speaker.request(method, path.format(**values), **filled)

    return ask


def _fill(value: Any, values: Mapping[str, Any]) -> Any:
    """Put what is named by a text in angle brackets in its place."""
    if isinstance(value, str) and value.startswith("<"):
        return values[value[1:-1]]
    if isinstance(value, list):
        return [_fill(one, values) for one in value]
    if isinstance(value, dict):
        return {key: _fill(one, values) for key, one in value.items()}
    return value


_CHANNEL = [{"operator": "channel", "operand": "<channel_id>"}]
_BY_NAME = [{"operator": "channel", "operand": "<name>"}]

CHANNEL_PROBES: dict[str, Probe] = {
    "GET /streams/{stream_id}": Probe(_get("streams/{channel_id}"), "m"),
    "GET /streams/{stream_id}/members": Probe(_get("streams/{channel_id}/members"), "s"),
    "GET /streams/{stream_id}/email_address": Probe(_get("streams/{channel_id}/email_address")),
    "POST /streams/{stream_id}/email_address": Probe(_ask("POST", "streams/{channel_id}/email_address")),
    "DELETE /streams/{stream_id}/email_address": Probe(_ask("DELETE", "streams/{channel_id}/email_address")),
    "GET /users/{user_id}/subscriptions/{stream_id}": Probe(_get("users/{me}/subscriptions/{channel_id}"), "s"),
    "GET /get_stream_id": Probe(_get("get_stream_id", stream="<name>"), "c"),
    "GET /users/me/{stream_id}/topics": Probe(_get("users/me/{channel_id}/topics"), "c"),
    "GET /messages": Probe(_get("messages", anchor="newest", num_before=10, num_after=0, narrow=_CHANNEL), "c"),
    "GET /messages by name": Probe(_get("messages", anchor="newest", num_before=10, num_after=0, narrow=_BY_NAME), "c"),
    "POST /messages": Probe(
        _ask("POST", "messages", type="channel", to="<channel_id>", topic="<topic>", content="x" * 10_001)
    ),
    "POST /messages by name": Probe(_ask("POST", "messages", type="channel", to="<name>", topic="x" * 99, content="x")),
    "POST /messages/flags/narrow": Probe(
        _ask(
            "POST",
            "messages/flags/narrow",
            anchor="oldest",
            num_before=0,
            num_after=0,
            include_anchor=False,
            narrow=_CHANNEL,
            op="add",
            flag="starred",
        ),
        "c",
    ),
    "PATCH /streams/{stream_id}": Probe(_ask("PATCH", "streams/{channel_id}", description="x" * 2000)),
    "DELETE /streams/{stream_id}": Probe(_ask("DELETE", "streams/{channel_id}")),
    "DELETE /users/me/subscriptions": Probe(_ask("DELETE", "users/me/subscriptions", subscriptions=["<name>"])),
    "PATCH /users/me/subscriptions": Probe(_ask("PATCH", "users/me/subscriptions", delete=["<name>"])),
    "POST /users/me/subscriptions/properties": Probe(
        _ask(
            "POST",
            "users/me/subscriptions/properties",
            subscription_data=[{"stream_id": "<channel_id>", "property": "pin_to_top", "value": False}],
        )
    ),
    "PATCH /users/me/subscriptions/{stream_id}": Probe(
        _ask("PATCH", "users/me/subscriptions/{channel_id}", property="pin_to_top", value="false")
    ),
    "POST /user_topics": Probe(
        _ask("POST", "user_topics", stream_id="<channel_id>", topic="mine", visibility_policy=1)
    ),
    "PATCH /users/me/subscriptions/muted_topics": Probe(
        _ask("PATCH", "users/me/subscriptions/muted_topics", stream_id="<channel_id>", topic="mine", op="add")
    ),
    "POST /scheduled_messages": Probe(
        _ask(
            "POST",
            "scheduled_messages",
            type="channel",
            to="<channel_id>",
            topic="mine",
            content="x",
            scheduled_delivery_timestamp=FAR_OFF,
        )
    ),
    "POST /typing": Probe(_ask("POST", "typing", type="channel", op="stop", stream_id="<channel_id>", topic="<topic>")),
    "POST /drafts": Probe(
        _ask("POST", "drafts", drafts=[{"type": "stream", "to": ["<channel_id>"], "topic": "<topic>", "content": "\0"}])
    ),
    "POST /mark_stream_as_read": Probe(_ask("POST", "mark_stream_as_read", stream_id="<channel_id>")),
    "POST /mark_topic_as_read": Probe(
        _ask("POST", "mark_topic_as_read", stream_id="<channel_id>", topic_name="<topic>")
    ),
    "POST /streams/{stream_id}/delete_topic": Probe(
        _ask("POST", "streams/{channel_id}/delete_topic", topic_name="no such topic")
    ),
}

MESSAGE_PROBES: dict[str, Probe] = {
    "GET /messages/{message_id}": Probe(_get("messages/{message_id}"), "c"),
    "GET /messages by id": Probe(_get("messages", message_ids=["<message_id>"]), "c"),
    "GET /users/me/unread": Probe(_get("users/me/unread", message_ids=["<message_id>"])),
    "GET /messages/{message_id}/history": Probe(_get("messages/{message_id}/history")),
    "GET /messages/{message_id}/read_receipts": Probe(_get("messages/{message_id}/read_receipts")),
    "GET /messages/matches_narrow": Probe(
        _get("messages/matches_narrow", msg_ids=["<message_id>"], narrow=[{"operator": "has", "operand": "link"}]), "c"
    ),
    "PATCH /messages/{message_id}": Probe(_ask("PATCH", "messages/{message_id}", content="x" * 10_001)),
    "POST /messages/{message_id}/typing": Probe(_ask("POST", "messages/{message_id}/typing", op="start")),
    "DELETE /messages/{message_id}": Probe(_ask("DELETE", "messages/{message_id}")),
    "DELETE /messages/{message_id}/link_previews": Probe(
        _ask("DELETE", "messages/{message_id}/link_previews", url="https://a.example/")
    ),
    "POST /messages/{message_id}/reactions": Probe(
        _ask("POST", "messages/{message_id}/reactions", emoji_name="no such emoji")
    ),
    "DELETE /messages/{message_id}/reactions": Probe(
        _ask("DELETE", "messages/{message_id}/reactions", emoji_name="octopus")
    ),
    "GET /messages/{message_id}/pins": Probe(_get("messages/{message_id}/pins"), "c"),
    "POST /messages/{message_id}/pin": Probe(_ask("POST", "messages/{message_id}/pin")),
    "DELETE /messages/{message_id}/pin": Probe(_ask("DELETE", "messages/{message_id}/pin")),
    "POST /messages/{message_id}/report": Probe(_ask("POST", "messages/{message_id}/report", report_type="spam")),
    "POST /submessage": Probe(
        _ask("POST", "submessage", message_id="<message_id>", msg_type="widget", content="no JSON")
    ),
    "POST /reminders": Probe(
        _ask("POST", "reminders", message_id="<message_id>", scheduled_delivery_timestamp=FAR_OFF)
    ),
    "POST /messages/flags": Probe(
        _ask("POST", "messages/flags", messages=["<message_id>"], op="remove", flag="starred"), "c"
    ),
}
DANGEROUS = {
    *("DELETE /messages/{message_id}", "DELETE /streams/{stream_id}"),
    *("DELETE /users/me/subscriptions", "PATCH /users/me/subscriptions"),
}
"""Tried only by those for whom nothing is there."""

LISTS: dict[str, Callable[[Speaker], httpx.Response]] = {
    "GET /streams": lambda speaker: speaker.request("GET", "streams", include_all=True),
    "GET /streams by parts": lambda speaker: speaker.request("GET", "streams", include_web_public=True),
    "GET /users/me/subscriptions": lambda speaker: speaker.request(
        "GET", "users/me/subscriptions", include_subscribers="true"
    ),
    "GET /messages": lambda speaker: speaker.request("GET", "messages", anchor="newest", num_before=100, num_after=0),
    "POST /register": lambda speaker: speaker.request(
        "POST", "register", include_subscribers="true", client_capabilities={"notification_settings_null": True}
    ),
}
"""What names no channel, and shows those that one may know."""

NAMING = {
    *("stream_id", "stream", "channel_id", "message_id", "message_ids", "msg_ids", "messages", "narrow", "to"),
    *("subscriptions", "subscription_data", "drafts", "draft", "anchor", "topic_name"),
}
"""Parameters that name a channel or a message. An endpoint with one of them has a probe, or a reason to have none."""

NO_PROBE = {
    "POST /users/{user_id}/erase": "says what becomes of messages, and names none",
    "POST /users/me/subscriptions": "makes the channel if there is none: that a name is taken cannot be hidden",
    "POST /default_streams": "for administrators, who see every channel",
    "DELETE /default_streams": "for administrators, who see every channel",
    "POST /external/{integration}": "sends as POST /messages does, for a bot; see test_integrations.py",
    "POST /register": "a narrow is a filter on what is heard anyway; events are tested below",
    "PATCH /scheduled_messages/{scheduled_message_id}": "the same address as in POST, of a message of one's own",
    "PATCH /drafts/{draft_id}": "the same draft as in POST /drafts, of one's own",
    **dict.fromkeys(
        (
            "GET /public/channels/{channel_id}",
            "GET /public/channels/{channel_id}/feed.atom",
            "GET /public/channels/{channel_id}/topics/{topic_id}",
            "GET /public/channels/{channel_id}/topics/{topic_id}/feed.atom",
            "GET /public/messages/{message_id}",
            "GET /public/sitemaps/channels/{channel_id}/{first}.xml",
        ),
        "the same page for everybody, whoever they are; of each kind of channel: test_public_pages.py",
    ),
}
