"""DELETE /messages/{id} and POST /streams/{id}/delete_topic (protocol/messages.md#delete-message)."""

import pytest

from tests.contract.changes import events, listen, new_channel, topic_ids
from tests.contract.conftest import Cast
from tests.harness.server import Channel
from tests.harness.talk import Speaker, check_error, unique


def refused(speaker: Speaker, message_id: int) -> str:
    return check_error(speaker.request("DELETE", f"messages/{message_id}"))


@pytest.mark.holds("delete-message.own")
def test_ones_own_message_can_be_deleted(member: Speaker, other: Speaker, channel: Channel) -> None:
    topic = unique("delete")
    sent = [member.send(channel.stream_id, topic) for _ in range(3)]
    member.delete(f"messages/{sent[1]}")
    for reader in (member, other):
        assert topic_ids(reader, channel.stream_id, topic) == [sent[0], sent[2]]
    check_error(member.request("GET", f"messages/{sent[1]}"))
    refused(member, sent[1])


@pytest.mark.holds("delete-message.told")
def test_all_who_see_it_hear_that_it_is_gone(member: Speaker, other: Speaker, channel: Channel) -> None:
    topic = unique("gone")
    sent = member.send(channel.stream_id, topic)
    with listen(other) as many, listen(other, bulk_message_deletion=False) as single:
        member.delete(f"messages/{sent}")
        where = {"message_type": "stream", "stream_id": channel.stream_id, "topic": topic, "type": "delete_message"}
        for queue, told in ((many, {"message_ids": [sent]}), (single, {"message_id": sent})):
            [event] = events(queue, "delete_message")
            del event["id"]
            assert event == where | told


@pytest.mark.holds("delete-message.told")
def test_a_direct_message_is_gone_for_all(member: Speaker, other: Speaker) -> None:
    sent = member.send([other.id])
    with listen(other) as queue:
        member.delete(f"messages/{sent}")
        [event] = events(queue, "delete_message")
    del event["id"]
    assert event == {"type": "delete_message", "message_ids": [sent], "message_type": "private"}


@pytest.mark.holds("register.empty-topic")
def test_the_empty_topic_is_named_for_those_who_want_it(member: Speaker, channel: Channel, empty_topic: str) -> None:
    sent = member.send(channel.stream_id, "")
    with listen(member) as knowing, listen(member, empty_topic_name=False) as plain:
        member.delete(f"messages/{sent}")
        assert [events(queue, "delete_message")[0]["topic"] for queue in (knowing, plain)] == ["", empty_topic]


@pytest.mark.holds("delete-message.own")
def test_others_may_not_delete_it_but_administrators_may(cast: Cast) -> None:
    sent = cast.member.send(cast.channel.stream_id, unique("whose"))
    refused(cast.other, sent)
    refused(cast.bot, sent)
    cast.owner.delete(f"messages/{sent}")


@pytest.mark.holds("delete-message.out-of-reach")
def test_what_is_out_of_reach_looks_like_what_does_not_exist(cast: Cast) -> None:
    private, direct = cast.owner.send(cast.private.stream_id, "x"), cast.member.send([cast.other.id])
    assert refused(cast.member, private) == refused(cast.member, 2**62) == refused(cast.owner, direct)


@pytest.mark.holds("delete-message.gone")
def test_unread_messages_that_are_deleted_are_not_unread_any_more(
    member: Speaker, other: Speaker, channel: Channel
) -> None:
    topic = unique("unread")
    sent = [member.send(channel.stream_id, topic) for _ in range(3)]
    other.post("messages/flags", messages=sent[:1], op="add", flag="read")
    member.delete(f"messages/{sent[1]}")
    [unread] = [part["unread_message_ids"] for part in other.unread()["streams"] if part["topic"] == topic]
    assert unread == sent[2:]
    assert other.message(sent[0])["flags"] == ["read"]


@pytest.mark.holds("delete-message.gone")
def test_the_channel_has_another_first_message_then(member: Speaker, other: Speaker) -> None:
    number = new_channel(member, other)
    sent = [member.send(number, "first") for _ in range(2)]
    with listen(other) as queue:
        member.delete(f"messages/{sent[0]}")
        member.delete(f"messages/{sent[1]}")
        changes = [event for event in events(queue, "stream") if event["property"] == "first_message_id"]
    assert [(event["op"], event["stream_id"], event["value"]) for event in changes] == [
        ("update", number, sent[1]),
        ("update", number, None),
    ]


@pytest.mark.holds("delete-message.topic")
def test_an_administrator_deletes_a_topic(cast: Cast) -> None:
    topic, kept = unique("topic"), unique("kept")
    sent = [cast.member.send(cast.channel.stream_id, topic) for _ in range(3)]
    stays = cast.member.send(cast.channel.stream_id, kept)
    with listen(cast.other) as queue:
        path = f"streams/{cast.channel.stream_id}/delete_topic"
        assert cast.owner.post(path, topic_name=topic.upper())["complete"] is True
        [event] = events(queue, "delete_message")
    assert event["message_ids"] == sent
    assert topic_ids(cast.member, cast.channel.stream_id, topic) == []
    assert cast.member.message(stays)["subject"] == kept
    assert cast.owner.post(path, topic_name=unique("nothing"))["complete"] is True


@pytest.mark.holds("delete-message.topic")
def test_deleting_a_topic_is_for_administrators_who_see_the_channel(cast: Cast) -> None:
    path = f"streams/{cast.channel.stream_id}/delete_topic"
    check_error(cast.member.request("POST", path, topic_name="x"), "UNAUTHORIZED_PRINCIPAL")
    unknown = cast.owner.request("POST", "streams/999999999/delete_topic", topic_name="x")
    check_error(unknown, "STREAM_DOES_NOT_EXIST", stream_id=999_999_999)
    secret = new_channel(cast.member, private=True)
    cast.member.send(secret, "x")
    hidden = cast.owner.request("POST", f"streams/{secret}/delete_topic", topic_name="x")
    check_error(hidden, "STREAM_DOES_NOT_EXIST", stream_id=secret)
    check_error(cast.owner.request("POST", path))
