"""POST /messages/flags with the flag read (contract/messages.md 8)."""

import pytest

from tests.server import Channel
from tests.talk import Json, Speaker, check_error, unique

TYPES = {"event_types": ["update_message_flags"]}


def mark(speaker: Speaker, ids: list[int], op: str = "add") -> Json:
    return speaker.post("messages/flags", messages=ids, op=op, flag="read")


def test_a_message_is_marked_read_and_unread(member: Speaker, other: Speaker, channel: Channel) -> None:
    sent = other.send(channel.stream_id, unique("flags"))
    assert member.message(sent)["flags"] == []
    mark(member, [sent])
    assert member.message(sent)["flags"] == ["read"]
    mark(member, [sent], "remove")
    assert member.message(sent)["flags"] == []


def test_the_answer_repeats_the_ids(member: Speaker) -> None:
    sent = member.send([member.id])
    assert mark(member, [sent, 5, sent]) == {
        "result": "success",
        "msg": "",
        "messages": [sent, 5, sent],
        "ignored_because_not_subscribed_channels": [],
    }


def test_reading_is_personal(member: Speaker, other: Speaker, owner: Speaker, channel: Channel) -> None:
    sent = owner.send(channel.stream_id, unique("mine"))
    mark(member, [sent])
    assert other.message(sent)["flags"] == []


def test_what_is_read_is_not_in_unread_messages(member: Speaker, other: Speaker, channel: Channel) -> None:
    topic = unique("count")
    sent = [other.send(channel.stream_id, topic) for _ in range(3)]
    count = member.unread()["count"]
    mark(member, sent[:2])
    after = member.unread()
    assert after["count"] == count - 2
    assert [entry["unread_message_ids"] for entry in after["streams"] if entry["topic"] == topic] == [sent[2:]]


def test_one_event_tells_what_changed(member: Speaker, other: Speaker, channel: Channel) -> None:
    topic = unique("event")
    sent = [other.send(channel.stream_id, topic) for _ in range(3)]
    mark(member, sent[:1])
    with member.register(**TYPES) as queue:
        mark(member, sent)
        [event] = queue.poll()
    del event["id"]
    expected = {"op": "add", "operation": "add", "flag": "read", "messages": sent[1:], "all": False}
    assert event == {"type": "update_message_flags", **expected}


def test_the_event_of_marking_unread_says_where_the_messages_belong(
    member: Speaker, other: Speaker, owner: Speaker, channel: Channel
) -> None:
    topic = unique("details")
    ids = [other.send(channel.stream_id, topic), other.send([member.id]), member.send([member.id])]
    ids.append(other.send([member.id, owner.id]))
    mark(member, ids)
    with member.register(**TYPES) as queue:
        mark(member, ids, "remove")
        [event] = queue.poll()
    assert (event["op"], event["operation"], event["flag"]) == ("remove", "remove", "read")
    assert event["messages"] == sorted(ids)
    details = event["message_details"]
    assert details[str(ids[0])] == {
        "type": "stream",
        "stream_id": channel.stream_id,
        "topic": topic,
        "unmuted_stream_msg": True,
    }
    assert details[str(ids[1])] == {"type": "private", "user_ids": [other.id]}
    assert details[str(ids[2])] == {"type": "private", "user_ids": []}
    assert details[str(ids[3])] == {"type": "private", "user_ids": sorted([other.id, owner.id])}


def test_the_empty_topic_is_named_in_the_event_as_the_client_wants(
    member: Speaker, other: Speaker, channel: Channel
) -> None:
    sent = other.send(channel.stream_id, "")
    mark(member, [sent])
    capable = {"notification_settings_null": True, "empty_topic_name": True}
    with member.register(**TYPES) as plain, member.register(**TYPES, client_capabilities=capable) as knowing:
        mark(member, [sent], "remove")
        for queue, shown in ((plain, "general chat"), (knowing, "")):
            [event] = queue.poll()
            assert event["message_details"][str(sent)]["topic"] == shown


def test_what_changes_nothing_makes_no_event(member: Speaker, other: Speaker, owner: Speaker, channel: Channel) -> None:
    mine, theirs = owner.send(channel.stream_id, unique("no")), owner.send([other.id])
    mark(member, [mine])
    with member.register(event_types=["message", "update_message_flags"]) as queue:
        for ids in ([mine], [theirs], [], [2**50, -1, 0]):
            mark(member, ids)
        assert queue.so_far() == []


def test_others_do_not_hear_of_it(member: Speaker, other: Speaker, channel: Channel) -> None:
    sent = other.send(channel.stream_id, unique("quiet"))
    with other.register(event_types=["message", "update_message_flags"]) as queue:
        mark(member, [sent])
        assert queue.so_far() == []


def test_messages_of_others_are_passed_over(member: Speaker, other: Speaker, owner: Speaker) -> None:
    theirs = owner.send([other.id])
    mark(member, [theirs])
    mark(member, [theirs], "remove")
    assert other.message(theirs)["flags"] == []


def test_messages_in_channels_one_has_left_stay_as_they_are_when_marked_unread(member: Speaker, other: Speaker) -> None:
    name = unique("left")
    for speaker in (member, other):
        speaker.post("users/me/subscriptions", subscriptions=[{"name": name}])
    sent = other.send(name, "topic")
    number = member.message(sent)["stream_id"]
    mark(member, [sent])
    member.delete("users/me/subscriptions", subscriptions=[name])
    assert mark(member, [sent], "remove")["ignored_because_not_subscribed_channels"] == [number]
    assert mark(member, [sent])["ignored_because_not_subscribed_channels"] == []
    [message] = member.window(before=1, narrow=[["channel", name]])["messages"]
    assert "read" in message["flags"]


@pytest.mark.parametrize(
    "fields",
    [
        {"messages": None},
        {"messages": "x"},
        {"messages": "5"},
        {"messages": '["5"]'},
        {"messages": "[true]"},
        {"messages": "[99999999999999999999]"},
        {"op": None},
        {"op": "toggle"},
        {"op": ""},
        {"flag": None},
        {"flag": "no_such_flag"},
        {"flag": ""},
        {"flag": "mentioned"},
        {"flag": "historical"},
    ],
)
def test_a_wrong_parameter_is_refused(member: Speaker, fields: Json) -> None:
    [name] = fields
    whole: Json = {"messages": "[5]", "op": "add", "flag": "read"}
    assert name in check_error(member.request("POST", "messages/flags", **(whole | fields))).lower()
