"""Changing messages, as the tests of it say it."""

from typing import Any

from tests.harness.talk import Json, Queue, Speaker, check_error, check_success, unique

TYPES = ["message", "update_message", "delete_message", "stream", "user_topic"]


def edit(speaker: Speaker, message_id: int, **fields: Any) -> Json:
    return check_success(speaker.request("PATCH", f"messages/{message_id}", **fields))


def refused(speaker: Speaker, message_id: int, code: str = "BAD_REQUEST", **fields: Any) -> str:
    return check_error(speaker.request("PATCH", f"messages/{message_id}", **fields), code)


def history(speaker: Speaker, message_id: int, **fields: Any) -> list[Json]:
    found: list[Json] = speaker.get(f"messages/{message_id}/history", **fields)["message_history"]
    return found


def one(speaker: Speaker, message_id: int, **fields: Any) -> Json:
    message: Json = speaker.get(f"messages/{message_id}", **fields)["message"]
    return message


def listen(speaker: Speaker, **capabilities: bool) -> Queue:
    known = {"notification_settings_null": True, "bulk_message_deletion": True, "empty_topic_name": True}
    return speaker.register(event_types=TYPES, client_capabilities=known | capabilities)


def events(queue: Queue, type: str = "update_message") -> list[Json]:
    """The events of this type so far."""
    return [event for event in queue.so_far() if event["type"] == type]


def new_channel(speaker: Speaker, *others: Speaker, private: bool = False) -> int:
    """A channel of a test's own."""
    name = unique("channel")
    for who in (speaker,) if private else (speaker, *others):
        who.post("users/me/subscriptions", subscriptions=[{"name": name}], invite_only=private)
    if private and others:
        principals = [who.id for who in others]
        speaker.post("users/me/subscriptions", subscriptions=[{"name": name}], principals=principals)
    state = speaker.post("register", event_types=[], fetch_event_types=["subscription"])
    speaker.delete("events", queue_id=state["queue_id"])
    [found] = [channel["stream_id"] for channel in state["subscriptions"] if channel["name"] == name]
    assert isinstance(found, int)
    return found


def topic_ids(speaker: Speaker, channel_id: int, topic: str) -> list[int]:
    """The messages of a topic."""
    narrow = [{"operator": "channel", "operand": channel_id}, {"operator": "topic", "operand": topic}]
    return [message["id"] for message in speaker.window("newest", before=100, narrow=narrow)["messages"]]
