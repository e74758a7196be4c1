"""PATCH /scheduled_messages/{scheduled_message_id} (protocol/messages.md#change-scheduled)."""

import time

import pytest

from tests.contract.groups import anonymous
from tests.contract.subscribing import make
from tests.harness.server import Channel
from tests.harness.talk import Json, Speaker, check_error, check_success


@pytest.fixture
def direct(newcomer: Speaker, member: Speaker) -> int:
    return schedule(newcomer, type="direct", to=[member.id])


@pytest.fixture
def spoken(newcomer: Speaker, channel: Channel) -> int:
    return schedule(newcomer, type="channel", to=channel.stream_id, topic="Plans")


def schedule(speaker: Speaker, seconds: int = 3600, **fields: object) -> int:
    due = int(time.time()) + seconds
    sent: Json = {"content": "Old", "scheduled_delivery_timestamp": due, **fields}
    found: int = speaker.post("scheduled_messages", **sent)["scheduled_message_id"]
    return found


def change(speaker: Speaker, scheduled_id: int, **fields: object) -> None:
    reply = speaker.request("PATCH", f"scheduled_messages/{scheduled_id}", **fields)
    assert reply.json() == {"result": "success", "msg": ""}, reply.text


def refuse(speaker: Speaker, scheduled_id: int, **fields: object) -> str:
    return check_error(speaker.request("PATCH", f"scheduled_messages/{scheduled_id}", **fields))


def one(speaker: Speaker, scheduled_id: int) -> Json:
    found = speaker.get("scheduled_messages")["scheduled_messages"]
    [shown] = [each for each in found if each["scheduled_message_id"] == scheduled_id]
    record: Json = shown
    return record


@pytest.mark.holds(
    "change-scheduled.optional",
    "change-scheduled.path",
    "change-scheduled.content",
    "change-scheduled.time",
    "change-scheduled.answer",
    "states.schedule-edit",
    "versioning.level-184",
)
def test_only_what_is_passed_changes_and_is_told(newcomer: Speaker, spoken: int) -> None:
    old = one(newcomer, spoken)
    with newcomer.register(event_types=["scheduled_messages"]) as queue:
        change(newcomer, spoken, content="New")
        new = old | {"content": "New", "rendered_content": "<p>New</p>"}
        assert one(newcomer, spoken) == new
        [event] = queue.poll()
        assert event == {"id": event["id"], "type": "scheduled_messages", "op": "update", "scheduled_message": new}
    change(newcomer, spoken, topic="Other plans", scheduled_delivery_timestamp=old["scheduled_delivery_timestamp"] + 60)
    assert one(newcomer, spoken) == new | {
        "topic": "Other plans",
        "scheduled_delivery_timestamp": old["scheduled_delivery_timestamp"] + 60,
    }


@pytest.mark.holds("change-scheduled.type", "change-scheduled.type-needs-to")
def test_another_type_needs_to_and_a_channel_its_topic(
    newcomer: Speaker, member: Speaker, channel: Channel, direct: int, spoken: int
) -> None:
    refuse(newcomer, direct, type="channel")
    refuse(newcomer, direct, type="channel", to=channel.stream_id)
    refuse(newcomer, direct, type="channel", topic="T")
    change(newcomer, direct, type="channel", to=channel.stream_id, topic="T")
    found = one(newcomer, direct)
    assert (found["type"], found["to"], found["topic"]) == ("stream", channel.stream_id, "T")
    refuse(newcomer, spoken, type="direct")
    change(newcomer, spoken, type="private", to=[member.id])
    found = one(newcomer, spoken)
    assert (found["type"], found["to"], "topic" in found) == ("private", [member.id], False)


@pytest.mark.holds("change-scheduled.type-needs-to", "change-scheduled.type")
def test_the_same_type_needs_nothing_else(newcomer: Speaker, spoken: int, direct: int) -> None:
    change(newcomer, spoken, type="stream", content="New")
    change(newcomer, direct, type="direct", content="New")
    assert one(newcomer, spoken)["content"] == one(newcomer, direct)["content"] == "New"


@pytest.mark.holds("change-scheduled.topic-direct")
def test_a_topic_is_ignored_in_a_direct_message(newcomer: Speaker, direct: int) -> None:
    for topic in ("x" * 100, "a\0b", "\x01"):
        change(newcomer, direct, topic=topic)
        assert "topic" not in one(newcomer, direct)


@pytest.mark.holds("change-scheduled.topic", "change-scheduled.topic-direct")
def test_a_topic_is_that_of_sending(newcomer: Speaker, spoken: int, direct: int, channel: Channel) -> None:
    change(newcomer, spoken, topic="(no topic)")
    assert one(newcomer, spoken)["topic"] == ""
    change(newcomer, spoken, topic=" Trimmed ")
    assert one(newcomer, spoken)["topic"] == "Trimmed"
    refuse(newcomer, spoken, topic="a\0b")
    change(newcomer, spoken, type="direct", to=[newcomer.id], topic="a\0b" * 500)  # there is none any more
    assert "topic" not in one(newcomer, spoken)
    change(newcomer, direct, type="stream", to=channel.stream_id, topic="")
    assert one(newcomer, direct)["topic"] == ""


@pytest.mark.holds("change-scheduled.to")
def test_the_recipient_changes_alone(newcomer: Speaker, other: Speaker, direct: int, spoken: int) -> None:
    change(newcomer, direct, to=[other.id])
    assert one(newcomer, direct)["to"] == [other.id]
    elsewhere = make(newcomer)["stream_id"]
    change(newcomer, spoken, to=elsewhere)
    assert one(newcomer, spoken)["to"] == elsewhere


@pytest.mark.holds(
    "change-scheduled.unknown",
    "change-scheduled.unknown-channel",
    "change-scheduled.to",
    "change-scheduled.time",
    "change-scheduled.content",
)
def test_what_makes_no_message_is_refused(newcomer: Speaker, direct: int, spoken: int, private: Channel) -> None:
    refuse(newcomer, direct)
    refuse(newcomer, direct, content=" ")
    refuse(newcomer, direct, to=[999_999_999])
    refuse(newcomer, direct, to=5)
    refuse(newcomer, direct, scheduled_delivery_timestamp=5)
    refuse(newcomer, spoken, to=[1])
    refuse(newcomer, spoken, topic="a\x07b")
    refuse(newcomer, 999_999_999, content="New")
    refuse(newcomer, direct, type="letter", to=[newcomer.id])
    for unknown in (private.stream_id, 999_999_999):
        reply = newcomer.request("PATCH", f"scheduled_messages/{spoken}", to=unknown)
        check_error(reply, "STREAM_DOES_NOT_EXIST", stream_id=unknown)


@pytest.mark.holds(
    "change-scheduled.time-failed", "states.schedule-failed", "scheduled-message.failed", "states.schedule-sent"
)
def test_a_failed_one_needs_another_time_and_is_pending_then(
    newcomer: Speaker, owner: Speaker, member: Speaker
) -> None:
    place = make(owner, principals=[owner.id, newcomer.id])
    closed, everybody = anonymous([owner.id], []), place["can_send_message_group"]
    scheduled_id = schedule(newcomer, type="channel", to=place["stream_id"], topic="T")
    pending = one(newcomer, scheduled_id)
    with newcomer.register(event_types=["scheduled_messages", "message"]) as queue:
        # Nothing comes between these two: it is due soon, and must not be sent before the channel is closed.
        soon = int(time.time()) + 4
        change(newcomer, scheduled_id, scheduled_delivery_timestamp=soon)
        check_success(owner.request("PATCH", f"streams/{place['stream_id']}", can_send_message_group={"new": closed}))
        pending |= {"scheduled_delivery_timestamp": soon}
        told: list[Json] = []
        while len(told) < 3:
            told += [event for event in queue.poll() if event["type"] != "heartbeat"]
        changed, failed = (event["scheduled_message"] for event in told if event.get("op") == "update")
        assert (changed, failed) == (pending, pending | {"failed": True})
        notice = next(event["message"] for event in told if event["type"] == "message")
        assert (notice["type"], notice["sender_full_name"]) == ("private", "Notification Bot")
    assert one(newcomer, scheduled_id) == failed
    due = int(time.time()) + 3600
    refuse(newcomer, scheduled_id, scheduled_delivery_timestamp=due)  # it still cannot be sent there
    check_success(owner.request("PATCH", f"streams/{place['stream_id']}", can_send_message_group={"new": everybody}))
    for without_time in ({"content": "New"}, {"topic": "New"}, {"type": "direct", "to": [member.id]}):
        refuse(newcomer, scheduled_id, **without_time)
    refuse(newcomer, scheduled_id, scheduled_delivery_timestamp=pending["scheduled_delivery_timestamp"])
    assert one(newcomer, scheduled_id) == failed
    change(newcomer, scheduled_id, scheduled_delivery_timestamp=due)
    assert one(newcomer, scheduled_id) == pending | {"scheduled_delivery_timestamp": due}


@pytest.mark.holds("change-scheduled.failed-moved", "states.schedule-failed")
def test_a_failed_one_is_moved_and_given_another_time_in_one_call(
    newcomer: Speaker, owner: Speaker, channel: Channel
) -> None:
    place = make(owner, principals=[owner.id, newcomer.id])
    scheduled_id = schedule(newcomer, type="channel", to=place["stream_id"], topic="T")
    with newcomer.register(event_types=["scheduled_messages"]) as queue:
        change(newcomer, scheduled_id, scheduled_delivery_timestamp=int(time.time()) + 4)
        closed = {"new": anonymous([owner.id], [])}
        check_success(owner.request("PATCH", f"streams/{place['stream_id']}", can_send_message_group=closed))
        queue.until(lambda event: event.get("scheduled_message", {}).get("failed", False))
    failed = one(newcomer, scheduled_id)
    due = int(time.time()) + 3600
    refuse(newcomer, scheduled_id, to=channel.stream_id)
    change(newcomer, scheduled_id, to=channel.stream_id, scheduled_delivery_timestamp=due)
    moved = {"to": channel.stream_id, "scheduled_delivery_timestamp": due, "failed": False}
    assert one(newcomer, scheduled_id) == failed | moved
