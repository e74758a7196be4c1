"""POST /messages/{message_id}/typing: telling that a message is being changed (protocol/messages.md#typing)."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.harness.server import Channel
from tests.harness.talk import Json, Queue, Speaker, check_error, unique


@contextmanager
def hearing(speaker: Speaker, *, empty_topic_name: bool = True) -> Iterator[Queue]:
    capabilities = {"notification_settings_null": True, "empty_topic_name": empty_topic_name}
    with speaker.register(event_types=["typing_edit_message", "typing"], client_capabilities=capabilities) as queue:
        yield queue


def heard(queue: Queue) -> Json:
    [event] = queue.poll()
    assert isinstance(event.pop("id"), int)
    shown: Json = event
    return shown


def edits(speaker: Speaker, message_id: int, op: str = "start") -> None:
    assert speaker.post(f"messages/{message_id}/typing", op=op) == {"result": "success", "msg": ""}


@pytest.mark.holds("typing.edit")
@pytest.mark.parametrize("op", ["start", "stop"])
def test_people_hear_that_a_message_to_them_is_being_changed(newcomer: Speaker, member: Speaker, op: str) -> None:
    sent = newcomer.send([member.id])
    with hearing(member) as queue, hearing(newcomer) as own:
        edits(newcomer, sent, op)
        recipient = {"type": "direct", "user_ids": sorted([newcomer.id, member.id])}
        event = {"type": "typing_edit_message", "op": op, "sender_id": newcomer.id, "message_id": sent}
        assert heard(queue) == event | {"recipient": recipient}
        assert heard(own) == event | {"recipient": recipient}


@pytest.mark.holds("typing.edit")
def test_subscribers_hear_that_a_message_is_being_changed(member: Speaker, other: Speaker, channel: Channel) -> None:
    topic = unique("Plans")
    sent = member.send(channel.stream_id, topic)
    with hearing(other) as queue:
        edits(member, sent)
        assert heard(queue) == {
            "type": "typing_edit_message",
            "op": "start",
            "sender_id": member.id,
            "message_id": sent,
            "recipient": {"type": "channel", "channel_id": channel.stream_id, "topic": topic},
        }


@pytest.mark.holds("typing.edit")
def test_the_empty_topic_has_a_name_for_clients_that_need_one(
    member: Speaker, other: Speaker, channel: Channel, empty_topic: str
) -> None:
    sent = member.send(channel.stream_id, "")
    with hearing(other) as knowing, hearing(other, empty_topic_name=False) as old:
        edits(member, sent)
        assert heard(knowing)["recipient"]["topic"] == ""
        assert heard(old)["recipient"]["topic"] == empty_topic


@pytest.mark.holds("typing.edit")
def test_who_is_not_subscribed_hears_nothing(
    member: Speaker, newcomer: Speaker, other: Speaker, channel: Channel
) -> None:
    sent = member.send(channel.stream_id, "Plans")
    with hearing(newcomer) as queue:
        edits(member, sent)
        other.post("typing", op="stop", to=[newcomer.id])
        assert heard(queue)["type"] == "typing"


@pytest.mark.holds("typing.edit")
def test_whoever_does_not_want_to_hear_of_it_does_not(newcomer: Speaker, member: Speaker, other: Speaker) -> None:
    sent = member.send([newcomer.id])
    newcomer.request("PATCH", "settings", receives_typing_notifications=False)
    with hearing(newcomer) as queue:
        edits(member, sent)
        newcomer.request("PATCH", "settings", receives_typing_notifications=True)
        other.post("typing", op="stop", to=[newcomer.id])
        assert heard(queue)["type"] == "typing"


@pytest.mark.holds("typing.edit")
def test_whoever_does_not_want_to_tell_is_told_so(newcomer: Speaker, member: Speaker, channel: Channel) -> None:
    newcomer.post("users/me/subscriptions", subscriptions=[{"name": channel.name}])
    direct, public = newcomer.send([member.id]), newcomer.send(channel.stream_id, "Plans")
    newcomer.request("PATCH", "settings", send_private_typing_notifications=False)
    check_error(newcomer.request("POST", f"messages/{direct}/typing", op="start"))
    edits(newcomer, public)
    newcomer.request("PATCH", "settings", send_stream_typing_notifications=False)
    check_error(newcomer.request("POST", f"messages/{public}/typing", op="start"))


@pytest.mark.holds("typing.edit")
def test_only_ones_own_message(member: Speaker, other: Speaker, owner: Speaker, channel: Channel) -> None:
    sent = member.send(channel.stream_id, "Plans")
    for speaker in (other, owner):
        check_error(speaker.request("POST", f"messages/{sent}/typing", op="start"))


@pytest.mark.holds("typing.edit")
def test_a_message_out_of_reach_looks_like_none(guest: Speaker, owner: Speaker, private: Channel) -> None:
    def refused(message_id: int) -> str:
        return check_error(guest.request("POST", f"messages/{message_id}/typing", op="start"))

    assert refused(owner.send(private.stream_id, "Plans")) == refused(999_999_999)


@pytest.mark.holds("typing.edit")
@pytest.mark.parametrize("fields", [{}, {"op": "pause"}], ids=str)
def test_what_cannot_be_told(member: Speaker, channel: Channel, fields: Json) -> None:
    sent = member.send(channel.stream_id, "Plans")
    check_error(member.request("POST", f"messages/{sent}/typing", **fields))


@pytest.mark.holds("typing.edit")
def test_a_widget_cannot_be_changed(member: Speaker, channel: Channel) -> None:
    sent = member.send(channel.stream_id, "Plans", "/poll Tea?")
    check_error(member.request("POST", f"messages/{sent}/typing", op="start"))
