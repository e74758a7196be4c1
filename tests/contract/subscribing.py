"""Channels in the contract tests: made, looked at and listened to through the front door."""

from typing import Any

import httpx

from tests.harness.talk import Json, Queue, Speaker, check_success, unique

SETTINGS = (
    "can_add_subscribers_group",
    "can_administer_channel_group",
    "can_create_topic_group",
    "can_delete_any_message_group",
    "can_delete_own_message_group",
    "can_move_messages_out_of_channel_group",
    "can_move_messages_within_channel_group",
    "can_remove_subscribers_group",
    "can_resolve_topics_group",
    "can_send_message_group",
    "can_subscribe_group",
)


def ask(speaker: Speaker, *names: str, **fields: Any) -> httpx.Response:
    """Subscribe to channels of these names."""
    wanted = [{"name": name} for name in names]
    return speaker.request("POST", "users/me/subscriptions", subscriptions=wanted, **fields)


def join(speaker: Speaker, *names: str, **fields: Any) -> Json:
    return check_success(ask(speaker, *names, **fields))


def leave(speaker: Speaker, *names: str, **fields: Any) -> Json:
    return speaker.delete("users/me/subscriptions", subscriptions=list(names), **fields)


def make(speaker: Speaker, **fields: Any) -> Json:
    """A new channel, as its maker sees it."""
    name = unique("channel")
    wanted = [{"name": name, "description": fields.pop("description", "")}]
    reply = speaker.post("users/me/subscriptions", subscriptions=wanted, **fields)
    assert list(reply["subscribed"].values()) == [[name]] * len(reply["subscribed"])
    return find(speaker, name)


def find(speaker: Speaker, name: str) -> Json:
    """A channel the speaker sees, by its name."""
    [found] = [channel for channel in speaker.get("streams", include_all=True)["streams"] if channel["name"] == name]
    record: Json = found
    return record


def sees(speaker: Speaker, channel: Json) -> bool:
    return channel["name"] in [one["name"] for one in speaker.get("streams", include_all=True)["streams"]]


def subscription(speaker: Speaker, channel: Json, **fields: Any) -> Json:
    """The speaker's own subscription to a channel."""
    own = speaker.get("users/me/subscriptions", **fields)["subscriptions"]
    [found] = [one for one in own if one["stream_id"] == channel["stream_id"]]
    record: Json = found
    return record


def members(speaker: Speaker, channel: Json) -> list[int]:
    found: list[int] = speaker.get(f"streams/{channel['stream_id']}/members")["subscribers"]
    return found


def listening(speaker: Speaker, **options: Any) -> Queue:
    """A queue that hears of channels."""
    return Queue(
        speaker,
        event_types=["stream", "subscription", "default_streams", "message"],
        **{"fetch_event_types": [], "client_capabilities": {"notification_settings_null": True}, **options},
    )


def heard(queue: Queue, *channels: Json) -> list[Json]:
    """What the queue has heard of these channels so far, without numbers."""
    ids = {channel["stream_id"] for channel in channels}
    found = []
    for event in queue.so_far():
        named = {
            *event.get("stream_ids", []),
            *(one["stream_id"] for one in event.get("streams", [])),
            *(one["stream_id"] for one in event.get("subscriptions", [])),
        }
        if event["type"] in ("stream", "subscription") and named & ids:
            found.append({key: value for key, value in event.items() if key != "id"})
    return found


def kinds(events: list[Json]) -> list[str]:
    return [f"{event['type']} {event['op']}" for event in events]
