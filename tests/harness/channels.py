"""Channels in the tests of features: made with a privacy and people inside, and looked at as their members see them."""

from typing import Any

from tests.harness.realm import Realm
from tests.harness.server import Channel
from tests.harness.talk import Json, Queue, Speaker, check_error, check_success

KINDS: dict[str, Json] = {
    "web-public": {"invite_only": False, "history_public_to_subscribers": True, "is_web_public": True},
    "public": {"invite_only": False, "history_public_to_subscribers": True, "is_web_public": False},
    "shared": {"invite_only": True, "history_public_to_subscribers": True, "is_web_public": False},
    "protected": {"invite_only": True, "history_public_to_subscribers": False, "is_web_public": False},
}
LISTS = ("subscriptions", "unsubscribed", "never_subscribed")


def make(realm: Realm, *inside: Speaker, kind: str = "public") -> Channel:
    """A channel of that kind without anybody who administers it but the organization's administrators."""
    channel = realm.stage.channel(*inside, invite_only=kind in ("shared", "protected"), realm_id=realm.id)
    if kind in ("web-public", "shared"):
        # The server switch for channels on the web is off in tests: this one was opened while it was on.
        realm.stage.sql(
            "update channel set is_web_public = %s, history_public_to_subscribers = true where id = %s",
            kind == "web-public",
            channel.stream_id,
        )
    return channel


def change(speaker: Speaker, channel: Channel | int, **fields: Any) -> None:
    check_success(speaker.request("PATCH", f"streams/{_id(channel)}", **fields))


def refused(speaker: Speaker, channel: Channel | int, code: str = "BAD_REQUEST", /, **fields: Any) -> Json:
    reply = speaker.request("PATCH", f"streams/{_id(channel)}", **fields)
    body: Json = reply.json()
    assert (reply.status_code, body["code"]) == (409 if code == "CHANNEL_ALREADY_EXISTS" else 400, code), reply.text
    return body


def hidden(speaker: Speaker, channel: Channel | int, **fields: Any) -> None:
    """Refused as if there were no such channel."""
    reply = speaker.request("PATCH", f"streams/{_id(channel)}", **fields)
    check_error(reply, "STREAM_DOES_NOT_EXIST", stream_id=_id(channel))


def listening(speaker: Speaker, *, archived: bool = False) -> Queue:
    capabilities = {"notification_settings_null": True, "archived_channels": archived}
    types = ["stream", "subscription", "default_streams", "realm", "message"]
    return Queue(speaker, event_types=types, fetch_event_types=["subscription"], client_capabilities=capabilities)


def heard(queue: Queue, type: str = "stream") -> list[Json]:
    """What the queue has heard of that type so far, without numbers and type."""
    found = [event for event in queue.so_far() if event["type"] == type]
    return [{key: value for key, value in event.items() if key not in ("id", "type")} for event in found]


def seen(speaker: Speaker, channel: Channel, *, archived: bool = False) -> tuple[str, Json] | None:
    """The list a channel is in for somebody who registers now, and its record."""
    with listening(speaker, archived=archived) as queue:
        for name in LISTS:
            for record in queue.state[name]:
                if record["stream_id"] == channel.stream_id:
                    return name, record
    return None


def record_of(speaker: Speaker, channel: Channel) -> Json:
    found = seen(speaker, channel, archived=True)
    assert found is not None
    return found[1]


def _id(channel: Channel | int) -> int:
    return channel if isinstance(channel, int) else channel.stream_id
