"""POST /typing (protocol/messages.md#typing)."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.harness.server import Channel
from tests.harness.talk import Json, Queue, Speaker, check_error, check_success, unique

CHANNEL_TYPING = {"notification_settings_null": True, "stream_typing_notifications": True, "empty_topic_name": True}


@contextmanager
def hearing(speaker: Speaker, **capabilities: bool) -> Iterator[Queue]:
    with speaker.register(event_types=["typing"], client_capabilities=CHANNEL_TYPING | capabilities) as queue:
        yield queue


def heard(queue: Queue) -> Json:
    [event] = queue.poll()
    assert isinstance(event.pop("id"), int)
    assert event.pop("type") == "typing"
    shown: Json = event
    return shown


def hears_nothing(queue: Queue, marker: Speaker) -> bool:
    """Whether what came before a signal of `marker` did not reach the queue."""
    marker.post("typing", op="stop", to=[queue.speaker.id])
    return bool(heard(queue)["sender"]["user_id"] == marker.id)


def person(speaker: Speaker) -> Json:
    return {"user_id": speaker.id, "email": speaker.get("users/me")["email"]}


@pytest.mark.holds("typing.op", "typing.to", "events.typing", "states.typing")
@pytest.mark.parametrize("op", ["start", "stop"])
def test_people_hear_that_somebody_writes_to_them(newcomer: Speaker, member: Speaker, other: Speaker, op: str) -> None:
    with hearing(member) as queue, hearing(newcomer) as own:
        assert newcomer.post("typing", op=op, type="direct", to=[member.id, other.id]) == {
            "result": "success",
            "msg": "",
        }
        event = {
            "op": op,
            "message_type": "direct",
            "sender": person(newcomer),
            "recipients": sorted(map(person, (newcomer, member, other)), key=lambda one: one["user_id"]),
        }
        assert heard(queue) == event
        assert heard(own) == event


@pytest.mark.holds("typing.type", "typing.stream-id", "typing.topic")
def test_direct_is_the_default_and_a_channel_is_ignored_there(newcomer: Speaker, member: Speaker) -> None:
    with hearing(member) as queue:
        newcomer.post("typing", op="start", to=[member.id], stream_id=999_999_999, topic="x" * 100)
        assert heard(queue)["message_type"] == "direct"


@pytest.mark.holds(
    "typing.subscribers", "typing.type", "typing.stream-id", "typing.to", "events.typing", "versioning.level-215"
)
@pytest.mark.parametrize("kind", ["stream", "channel"])
def test_subscribers_hear_that_somebody_writes_in_a_channel(
    member: Speaker, other: Speaker, channel: Channel, kind: str
) -> None:
    topic = unique("Plans")
    with hearing(other) as queue:
        member.post("typing", op="start", type=kind, stream_id=channel.stream_id, topic=topic, to=[999_999_999])
        assert heard(queue) == {
            "op": "start",
            "message_type": "stream",
            "sender": person(member),
            "stream_id": channel.stream_id,
            "topic": topic,
        }


GARBAGE = ["", "null", "{", "[1", "x", "1.5", "true", '["a"]', "[1.5]", "a\0b", '"\\u0000"', "9" * 30, "[" * 50]


@pytest.mark.holds("typing.to")
@pytest.mark.parametrize("garbage", [*GARBAGE, json.dumps(list(range(1000)))])
def test_whatever_to_holds_is_ignored_in_a_channel(
    member: Speaker, other: Speaker, channel: Channel, garbage: str
) -> None:
    topic = unique("ignored")
    with hearing(other) as queue:
        member.post("typing", op="start", type="channel", stream_id=channel.stream_id, topic=topic, to=garbage)
        assert heard(queue)["topic"] == topic


@pytest.mark.holds("typing.stream-id", "typing.topic")
@pytest.mark.parametrize("garbage", GARBAGE)
def test_whatever_stream_id_and_topic_hold_is_ignored_in_a_direct_message(
    newcomer: Speaker, member: Speaker, garbage: str
) -> None:
    with hearing(member) as queue:
        newcomer.post("typing", op="start", to=[member.id], stream_id=garbage, topic=garbage)
        assert heard(queue)["message_type"] == "direct"


@pytest.mark.holds("typing.to", "typing.stream-id", "typing.topic")
def test_what_is_ignored_in_a_json_body_may_be_of_any_type(member: Speaker, other: Speaker, channel: Channel) -> None:
    direct = {"op": "start", "to": [other.id], "stream_id": [{}], "topic": 5}
    in_channel = {"op": "start", "type": "channel", "stream_id": channel.stream_id, "topic": "t", "to": {"a": "\0"}}
    for body in (direct, in_channel):
        check_success(member.http.post("typing", json=body))


@pytest.mark.holds("typing.to", "typing.stream-id")
def test_bytes_that_are_no_text_are_ignored_like_anything_else(
    member: Speaker, other: Speaker, channel: Channel
) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    for body in (
        b"op=start&type=channel&topic=t&stream_id=%d&to=%%FF\xfe" % channel.stream_id,
        b"op=start&to=[%d]&stream_id=\xff%%ff&topic=%%C3" % other.id,
    ):
        check_success(member.http.post("typing", content=body, headers=headers))


@pytest.mark.holds("typing.topic-empty", "conventions.empty-topic-input")
def test_the_empty_topic_has_several_names(member: Speaker, other: Speaker, channel: Channel, empty_topic: str) -> None:
    with hearing(other) as knowing, hearing(other, empty_topic_name=False) as old:
        for topic in ("", "(no topic)", empty_topic):
            member.post("typing", op="stop", type="channel", stream_id=channel.stream_id, topic=topic)
            assert heard(knowing)["topic"] == ""
            assert heard(old)["topic"] == empty_topic


@pytest.mark.holds("typing.capability")
def test_only_clients_that_declare_it_hear_of_channels(
    member: Speaker, other: Speaker, newcomer: Speaker, channel: Channel
) -> None:
    with hearing(other, stream_typing_notifications=False) as queue:
        member.post("typing", op="start", type="channel", stream_id=channel.stream_id, topic="Plans")
        assert hears_nothing(queue, newcomer)


@pytest.mark.holds("typing.subscribers")
def test_who_is_not_subscribed_hears_nothing(
    member: Speaker, newcomer: Speaker, other: Speaker, channel: Channel
) -> None:
    with hearing(newcomer) as queue:
        member.post("typing", op="start", type="channel", stream_id=channel.stream_id, topic="Plans")
        assert hears_nothing(queue, other)


@pytest.mark.holds("typing.wanted")
def test_whoever_does_not_want_to_hear_of_it_does_not(newcomer: Speaker, member: Speaker, other: Speaker) -> None:
    newcomer.request("PATCH", "settings", receives_typing_notifications=False)
    with hearing(newcomer) as queue:
        member.post("typing", op="start", to=[newcomer.id])
        newcomer.request("PATCH", "settings", receives_typing_notifications=True)
        assert hears_nothing(queue, other)


@pytest.mark.holds("typing.wanted")
def test_whoever_does_not_want_to_tell_is_told_so(newcomer: Speaker, member: Speaker, channel: Channel) -> None:
    newcomer.post("users/me/subscriptions", subscriptions=[{"name": channel.name}])
    newcomer.request("PATCH", "settings", send_private_typing_notifications=False)
    check_error(newcomer.request("POST", "typing", op="start", to=[member.id]))
    in_channel = {"op": "start", "type": "channel", "stream_id": channel.stream_id, "topic": "Plans"}
    newcomer.post("typing", **in_channel)
    newcomer.request("PATCH", "settings", send_stream_typing_notifications=False)
    check_error(newcomer.request("POST", "typing", **in_channel))


@pytest.mark.holds(
    "typing.op",
    "typing.to",
    "typing.type-private",
    "typing.stream-id-missing",
    "versioning.level-215",
    "typing.stream-id",
)
@pytest.mark.parametrize(
    "fields",
    [
        {"to": [1]},
        {"op": "pause", "to": [1]},
        {"op": "start", "type": "private", "to": [1]},
        {"op": "start"},
        {"op": "start", "to": []},
        {"op": "start", "to": 7},
        {"op": "start", "to": "hamlet@example.com"},
        {"op": "start", "to": [1, "two"]},
        {"op": "start", "to": [999_999_999]},
        {"op": "start", "type": "channel", "topic": "Plans"},
        {"op": "start", "type": "stream", "topic": "Plans", "to": [1]},
    ],
    ids=str,
)
def test_what_cannot_be_typed(member: Speaker, fields: Json) -> None:
    check_error(member.request("POST", "typing", **fields))


@pytest.mark.holds("typing.topic")
def test_a_topic_is_needed_in_a_channel(member: Speaker, channel: Channel) -> None:
    check_error(member.request("POST", "typing", op="start", type="channel", stream_id=channel.stream_id))


@pytest.mark.holds("typing.out-of-reach", "errors.stream-does-not-exist")
def test_a_channel_out_of_reach_looks_like_none(
    member: Speaker, guest: Speaker, private: Channel, channel: Channel
) -> None:
    for speaker, stream_id in ((member, private.stream_id), (guest, channel.stream_id), (member, 999_999_999)):
        for op in ("start", "stop"):
            fields = {"op": op, "type": "channel", "stream_id": stream_id, "topic": "Plans"}
            check_error(speaker.request("POST", "typing", **fields), "STREAM_DOES_NOT_EXIST", stream_id=stream_id)


@pytest.mark.holds("authentication.missing")
def test_it_takes_an_account(nobody: Speaker, member: Speaker) -> None:
    check_error(nobody.request("POST", "typing", op="start", to=[member.id]), "UNAUTHORIZED", 401)
