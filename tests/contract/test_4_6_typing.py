"""4.6: POST /typing."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.server import Channel
from tests.talk import Json, Queue, Speaker, check_error, unique

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


def test_direct_is_the_default_and_a_channel_is_ignored_there(newcomer: Speaker, member: Speaker) -> None:
    with hearing(member) as queue:
        newcomer.post("typing", op="start", to=[member.id], stream_id=999_999_999, topic="x" * 100)
        assert heard(queue)["message_type"] == "direct"


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


def test_the_empty_topic_has_several_names(member: Speaker, other: Speaker, channel: Channel, empty_topic: str) -> None:
    with hearing(other) as knowing, hearing(other, empty_topic_name=False) as old:
        for topic in ("", "(no topic)", empty_topic):
            member.post("typing", op="stop", type="channel", stream_id=channel.stream_id, topic=topic)
            assert heard(knowing)["topic"] == ""
            assert heard(old)["topic"] == empty_topic


def test_only_clients_that_declare_it_hear_of_channels(
    member: Speaker, other: Speaker, newcomer: Speaker, channel: Channel
) -> None:
    with hearing(other, stream_typing_notifications=False) as queue:
        member.post("typing", op="start", type="channel", stream_id=channel.stream_id, topic="Plans")
        assert hears_nothing(queue, newcomer)


def test_who_is_not_subscribed_hears_nothing(
    member: Speaker, newcomer: Speaker, other: Speaker, channel: Channel
) -> None:
    with hearing(newcomer) as queue:
        member.post("typing", op="start", type="channel", stream_id=channel.stream_id, topic="Plans")
        assert hears_nothing(queue, other)


def test_whoever_does_not_want_to_hear_of_it_does_not(newcomer: Speaker, member: Speaker, other: Speaker) -> None:
    newcomer.request("PATCH", "settings", receives_typing_notifications=False)
    with hearing(newcomer) as queue:
        member.post("typing", op="start", to=[newcomer.id])
        newcomer.request("PATCH", "settings", receives_typing_notifications=True)
        assert hears_nothing(queue, other)


def test_whoever_does_not_want_to_tell_is_told_so(newcomer: Speaker, member: Speaker, channel: Channel) -> None:
    newcomer.post("users/me/subscriptions", subscriptions=[{"name": channel.name}])
    newcomer.request("PATCH", "settings", send_private_typing_notifications=False)
    check_error(newcomer.request("POST", "typing", op="start", to=[member.id]))
    in_channel = {"op": "start", "type": "channel", "stream_id": channel.stream_id, "topic": "Plans"}
    newcomer.post("typing", **in_channel)
    newcomer.request("PATCH", "settings", send_stream_typing_notifications=False)
    check_error(newcomer.request("POST", "typing", **in_channel))


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
        {"op": "start", "type": "channel", "stream_id": 999_999_999, "topic": "Plans"},
    ],
    ids=str,
)
def test_what_cannot_be_typed(member: Speaker, fields: Json) -> None:
    check_error(member.request("POST", "typing", **fields))


def test_a_topic_is_needed_in_a_channel(member: Speaker, channel: Channel) -> None:
    check_error(member.request("POST", "typing", op="start", type="channel", stream_id=channel.stream_id))


def test_a_channel_out_of_reach_looks_like_none(
    member: Speaker, guest: Speaker, private: Channel, channel: Channel
) -> None:
    def refused(speaker: Speaker, channel_id: int) -> str:
        fields = {"op": "start", "type": "channel", "stream_id": channel_id, "topic": "Plans"}
        return check_error(speaker.request("POST", "typing", **fields))

    assert refused(member, private.stream_id) == refused(member, 999_999_999)
    assert refused(guest, channel.stream_id) == refused(guest, 999_999_999)


def test_it_takes_an_account(nobody: Speaker, member: Speaker) -> None:
    check_error(nobody.request("POST", "typing", op="start", to=[member.id]), "UNAUTHORIZED", 401)
