"""Scheduled messages, POST /scheduled_messages and what comes of them (protocol/messages.md#schedule-message)."""

import json
import time
from collections.abc import Iterator

import pytest

from tests.contract.subscribing import make
from tests.harness.server import Channel
from tests.harness.talk import Json, Speaker, check_error, unique


def later(seconds: int = 3600) -> int:
    return int(time.time()) + seconds


@pytest.fixture(autouse=True)
def given_up(member: Speaker) -> Iterator[None]:
    yield
    for one in member.get("scheduled_messages")["scheduled_messages"]:
        member.delete(f"scheduled_messages/{one['scheduled_message_id']}")


def scheduled(speaker: Speaker) -> dict[int, Json]:
    found = speaker.get("scheduled_messages")["scheduled_messages"]
    state = speaker.post("register", event_types=[], fetch_event_types=["scheduled_messages"])
    speaker.delete("events", queue_id=state["queue_id"])
    assert state["scheduled_messages"] == found
    return {one["scheduled_message_id"]: one for one in found}


@pytest.mark.holds(
    "schedule-message.type",
    "schedule-message.to",
    "schedule-message.content",
    "schedule-message.topic",
    "schedule-message.time",
    "schedule-message.answer",
    "scheduled-message.id",
    "scheduled-message.fields",
    "scheduled-message.to-ids",
    "scheduled-message.time",
    "states.schedule",
    "scheduled-message.failed",
)
@pytest.mark.parametrize("kind", ["channel", "stream"])
def test_a_channel_message_is_kept_and_told(member: Speaker, channel: Channel, kind: str) -> None:
    due, topic = later(), unique("Later")
    with member.register(event_types=["scheduled_messages"]) as queue:
        fields = {"type": kind, "to": channel.stream_id, "topic": topic, "content": "*Soon*"}
        scheduled_id = member.post("scheduled_messages", **fields, scheduled_delivery_timestamp=due)[
            "scheduled_message_id"
        ]
        shown = {
            "scheduled_message_id": scheduled_id,
            "type": "stream",
            "to": channel.stream_id,
            "topic": topic,
            "content": "*Soon*",
            "rendered_content": "<p><em>Soon</em></p>",
            "scheduled_delivery_timestamp": due,
            "failed": False,
        }
        assert scheduled(member)[scheduled_id] == shown
        [event] = queue.poll()
        assert event == {"id": event["id"], "type": "scheduled_messages", "op": "add", "scheduled_messages": [shown]}


@pytest.mark.holds(
    "schedule-message.to", "scheduled-message.to-ids", "schedule-message.type", "scheduled-message.fields"
)
@pytest.mark.parametrize("kind", ["direct", "private"])
def test_a_direct_message_is_kept_without_its_author(member: Speaker, other: Speaker, kind: str) -> None:
    fields = {"type": kind, "content": "Hi", "scheduled_delivery_timestamp": later()}
    scheduled_id = member.post("scheduled_messages", **fields, to=[other.id, member.id])["scheduled_message_id"]
    found = scheduled(member)[scheduled_id]
    assert (found["type"], found["to"], "topic" in found) == ("private", [other.id], False)
    own = member.post("scheduled_messages", **fields, to=[member.id])["scheduled_message_id"]
    assert scheduled(member)[own]["to"] == [member.id]


@pytest.mark.holds("schedule-message.list")
def test_they_are_listed_by_their_time(member: Speaker) -> None:
    fields = {"type": "direct", "to": [member.id], "content": "Note"}
    ids = [
        member.post("scheduled_messages", **fields, scheduled_delivery_timestamp=later(seconds))["scheduled_message_id"]
        for seconds in (3000, 1000, 2000)
    ]
    assert list(scheduled(member)) == [ids[1], ids[2], ids[0]]


@pytest.mark.holds(
    "states.schedule-sent",
    "schedule-message.read-by-sender",
    "message.id-not-scheduled",
    "scheduled-message.id",
    "scheduled-message.time",
)
def test_due_messages_are_sent_once_and_leave_the_list_read_by_their_author_or_not(
    newcomer: Speaker, other: Speaker, channel: Channel
) -> None:
    topic = unique("Due")
    there = {"type": "channel", "to": channel.stream_id, "topic": topic}
    expected: dict[str, tuple[Json, list[str]]] = {
        "asked": ({**there, "client": "a script", "read_by_sender": True}, ["read"]),
        "refused": ({**there, "client": "website", "read_by_sender": False}, []),
        "a person's program": ({**there, "client": "website"}, ["read"]),
        "a script": ({**there, "client": "a script"}, []),
        "a note": ({"type": "direct", "to": [newcomer.id], "client": "website"}, []),
        "a note that is read": ({"type": "direct", "to": [newcomer.id], "read_by_sender": True}, ["read"]),
        "a letter": ({"type": "direct", "to": [newcomer.id, other.id], "client": "website"}, ["read"]),
    }
    newcomer.post("users/me/subscriptions", subscriptions=[{"name": channel.name}])
    due: dict[str, int] = {}
    ids: dict[str, int] = {}
    with newcomer.register(event_types=["message", "scheduled_messages"]) as own, other.register() as theirs:
        for content, (fields, _) in expected.items():
            due[content] = later(2)
            sent = {**fields, "content": content, "scheduled_delivery_timestamp": due[content]}
            ids[content] = newcomer.post("scheduled_messages", **sent)["scheduled_message_id"]
        told: list[Json] = []
        while len([event for event in told if event.get("op") != "add"]) < 2 * len(expected):
            told += [event for event in own.poll() if event["type"] != "heartbeat"]
        heard = [event["message"] for event in theirs.so_far() if event["message"]["sender_id"] == newcomer.id]
    messages = {event["message"]["content"]: event for event in told if event["type"] == "message"}
    assert {content: event["flags"] for content, event in messages.items()} == {
        content: flags for content, (_, flags) in expected.items()
    }
    for content, event in messages.items():
        message = event["message"]
        assert 0 <= message["timestamp"] - due[content] <= 30
        assert (message["sender_id"], message["id"] in ids.values()) == (newcomer.id, False)
    removed = [event["scheduled_message_id"] for event in told if event.get("op") == "remove"]
    assert sorted(removed) == sorted(ids.values())
    assert scheduled(newcomer) == {}
    assert sorted(message["content"] for message in heard) == sorted([*list(expected)[:4], "a letter"])
    narrow = [{"operator": "channel", "operand": channel.stream_id}, {"operator": "topic", "operand": topic}]
    assert len(newcomer.window(before=10, narrow=narrow)["messages"]) == 4


@pytest.mark.holds("schedule-message.topic-direct")
@pytest.mark.parametrize("topic", ["x" * 1000, "\x01", "a\0b"])
def test_a_topic_is_ignored_for_a_direct_message(member: Speaker, topic: str) -> None:
    fields = {"type": "direct", "to": [member.id], "content": "x", "scheduled_delivery_timestamp": later()}
    found = member.post("scheduled_messages", **fields, topic=topic)["scheduled_message_id"]
    assert "topic" not in scheduled(member)[found]


@pytest.mark.holds("schedule-message.topic")
def test_topics_are_those_of_sending(member: Speaker, owner: Speaker, channel: Channel, empty_topic: str) -> None:
    fields = {"type": "channel", "content": "x", "scheduled_delivery_timestamp": later()}
    empty = ["", "(no topic)", f" {empty_topic} "]
    for topic, kept in [*((name, "") for name in empty), (" Trimmed ", "Trimmed")]:
        found = member.post("scheduled_messages", **fields, to=channel.stream_id, topic=topic)["scheduled_message_id"]
        assert scheduled(member)[found]["topic"] == kept
    strict = make(owner, topics_policy="disable_empty_topic")["stream_id"]
    for topic in (*empty, "a\x07b"):
        check_error(member.request("POST", "scheduled_messages", **fields, to=strict, topic=topic))


@pytest.mark.holds(
    "schedule-message.type",
    "schedule-message.to",
    "schedule-message.content",
    "schedule-message.time",
    "schedule-message.unknown-user",
    "schedule-message.read-by-sender",
)
@pytest.mark.parametrize(
    "change",
    [
        {"type": None},
        {"type": "letter"},
        {"to": None},
        {"to": []},
        {"to": ["somebody"]},
        {"to": [999_999_999]},
        {"to": 5},
        {"content": None},
        {"content": " "},
        {"scheduled_delivery_timestamp": None},
        {"scheduled_delivery_timestamp": "soon"},
        {"scheduled_delivery_timestamp": 1},
        {"scheduled_delivery_timestamp": -5},
        {"type": "channel", "to": [1], "topic": "T"},
        {"read_by_sender": "perhaps"},
    ],
    ids=lambda change: str(change)[:50],
)
def test_what_cannot_be_scheduled(member: Speaker, change: Json) -> None:
    fields = {"type": "direct", "to": [member.id], "content": "x", "scheduled_delivery_timestamp": later()}
    check_error(member.request("POST", "scheduled_messages", **fields | change))


@pytest.mark.holds(
    "schedule-message.unknown-channel", "schedule-message.topic", "schedule-message.to", "scheduled-message.to-ids"
)
def test_the_channel_must_exist_and_have_a_topic(member: Speaker, channel: Channel, private: Channel) -> None:
    fields = {"type": "channel", "content": "x", "scheduled_delivery_timestamp": later()}
    for unknown in (999_999_999, private.stream_id):
        reply = member.request("POST", "scheduled_messages", **fields, to=unknown, topic="T")
        check_error(reply, "STREAM_DOES_NOT_EXIST", stream_id=unknown)
    check_error(member.request("POST", "scheduled_messages", **fields, to=channel.stream_id))
    channels: list[object] = [channel.name, json.dumps(channel.name), [channel.stream_id], True]
    people: list[object] = [[member.email], member.email, member.id, {}]
    for kind, wrong in (("channel", channels), ("direct", people)):  # only IDs name them
        for to in wrong:
            check_error(member.request("POST", "scheduled_messages", **fields | {"type": kind, "to": to, "topic": "T"}))


@pytest.mark.holds("schedule-message.private")
def test_nobody_else_learns_of_it(member: Speaker, other: Speaker) -> None:
    fields = {"type": "direct", "to": [other.id], "content": "x", "scheduled_delivery_timestamp": later()}
    scheduled_id = member.post("scheduled_messages", **fields)["scheduled_message_id"]
    assert scheduled_id not in scheduled(other)
    unknown = check_error(other.request("DELETE", "scheduled_messages/999999999"))
    assert check_error(other.request("DELETE", f"scheduled_messages/{scheduled_id}")) == unknown
    assert check_error(other.request("PATCH", f"scheduled_messages/{scheduled_id}", content="y")) == unknown


@pytest.mark.holds("schedule-message.delete")
def test_it_is_given_up_and_told(member: Speaker) -> None:
    fields = {"type": "direct", "to": [member.id], "content": "x", "scheduled_delivery_timestamp": later()}
    scheduled_id = member.post("scheduled_messages", **fields)["scheduled_message_id"]
    with member.register(event_types=["scheduled_messages"]) as queue:
        member.delete(f"scheduled_messages/{scheduled_id}")
        [event] = queue.poll()
    assert (event["op"], event["scheduled_message_id"]) == ("remove", scheduled_id)
    check_error(member.request("DELETE", f"scheduled_messages/{scheduled_id}"))
