"""POST /messages/flags, mark_all_as_read and mark_stream_as_read (protocol/messages.md#flags)."""

import pytest

from tests.contract.policies import decide
from tests.harness.server import Channel
from tests.harness.talk import Json, Speaker, check_error, unique

TYPES = {"event_types": ["update_message_flags"]}


def mark(speaker: Speaker, ids: list[int], op: str = "add") -> Json:
    return speaker.post("messages/flags", messages=ids, op=op, flag="read")


@pytest.mark.holds("flags.set")
def test_a_message_is_marked_read_and_unread(member: Speaker, other: Speaker, channel: Channel) -> None:
    sent = other.send(channel.stream_id, unique("flags"))
    assert member.message(sent)["flags"] == []
    mark(member, [sent])
    assert member.message(sent)["flags"] == ["read"]
    mark(member, [sent], "remove")
    assert member.message(sent)["flags"] == []


@pytest.mark.holds("flags.set")
def test_the_answer_repeats_the_ids(member: Speaker) -> None:
    sent = member.send([member.id])
    assert mark(member, [sent, 5, sent]) == {
        "result": "success",
        "msg": "",
        "messages": [sent, 5, sent],
        "ignored_because_not_subscribed_channels": [],
    }


@pytest.mark.holds("flags.personal")
def test_reading_is_personal(member: Speaker, other: Speaker, owner: Speaker, channel: Channel) -> None:
    sent = owner.send(channel.stream_id, unique("mine"))
    mark(member, [sent])
    assert other.message(sent)["flags"] == []


@pytest.mark.holds("flags.set", "register.unread")
def test_what_is_read_is_not_in_unread_messages(member: Speaker, other: Speaker, channel: Channel) -> None:
    topic = unique("count")
    sent = [other.send(channel.stream_id, topic) for _ in range(3)]
    count = member.unread()["count"]
    mark(member, sent[:2])
    after = member.unread()
    assert after["count"] == count - 2
    assert [entry["unread_message_ids"] for entry in after["streams"] if entry["topic"] == topic] == [sent[2:]]


@pytest.mark.holds("flags.told")
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


@pytest.mark.holds("flags.unread-details")
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


@pytest.mark.holds("flags.unread-details", "register.empty-topic")
def test_the_empty_topic_is_named_in_the_event_as_the_client_wants(
    member: Speaker, other: Speaker, channel: Channel, empty_topic: str
) -> None:
    sent = other.send(channel.stream_id, "")
    mark(member, [sent])
    capable = {"notification_settings_null": True, "empty_topic_name": True}
    with member.register(**TYPES) as plain, member.register(**TYPES, client_capabilities=capable) as knowing:
        mark(member, [sent], "remove")
        for queue, shown in ((plain, empty_topic), (knowing, "")):
            [event] = queue.poll()
            assert event["message_details"][str(sent)]["topic"] == shown


@pytest.mark.holds("flags.told")
def test_what_changes_nothing_makes_no_event(member: Speaker, other: Speaker, owner: Speaker, channel: Channel) -> None:
    mine, theirs = owner.send(channel.stream_id, unique("no")), owner.send([other.id])
    mark(member, [mine])
    with member.register(event_types=["message", "update_message_flags"]) as queue:
        for ids in ([mine], [theirs], [], [2**50, -1, 0]):
            mark(member, ids)
        assert queue.so_far() == []


@pytest.mark.holds("flags.personal")
def test_others_do_not_hear_of_it(member: Speaker, other: Speaker, channel: Channel) -> None:
    sent = other.send(channel.stream_id, unique("quiet"))
    with other.register(event_types=["message", "update_message_flags"]) as queue:
        mark(member, [sent])
        assert queue.so_far() == []


@pytest.mark.holds("flags.others")
def test_messages_of_others_are_passed_over(member: Speaker, other: Speaker, owner: Speaker) -> None:
    theirs = owner.send([other.id])
    mark(member, [theirs])
    assert other.message(theirs)["flags"] == []


@pytest.mark.holds("flags.left")
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


def change(speaker: Speaker, flag: str, ids: list[int], op: str = "add") -> Json:
    return speaker.post("messages/flags", messages=ids, op=op, flag=flag)


def starred(speaker: Speaker) -> list[int]:
    with speaker.register(fetch_event_types=["starred_messages"]) as queue:
        found: list[int] = queue.state["starred_messages"]
        return found


@pytest.mark.holds("flags.set")
@pytest.mark.parametrize("flag", ["starred", "collapsed"])
def test_a_flag_is_put_on_messages_and_taken_off(member: Speaker, other: Speaker, channel: Channel, flag: str) -> None:
    ids = [other.send(channel.stream_id, unique("mark")), other.send([member.id]), member.send([member.id])]
    answer = change(member, flag, ids)
    assert (answer["messages"], answer["ignored_because_not_subscribed_channels"]) == (ids, [])
    for sent in ids:
        assert flag in member.message(sent)["flags"]
        assert "read" not in member.message(sent)["flags"]
    assert flag not in other.message(ids[0])["flags"]
    change(member, flag, ids[:2], "remove")
    assert [flag in member.message(sent)["flags"] for sent in ids] == [False, False, True]


@pytest.mark.holds("flags.starred")
def test_starred_messages_are_in_the_state_oldest_first(newcomer: Speaker) -> None:
    ids = [newcomer.send([newcomer.id]) for _ in range(3)]
    change(newcomer, "starred", [ids[2], ids[0]])
    change(newcomer, "collapsed", [ids[1]])
    assert starred(newcomer) == [ids[0], ids[2]]
    change(newcomer, "starred", [ids[0]], "remove")
    assert starred(newcomer) == [ids[2]]


@pytest.mark.holds("flags.told")
def test_one_event_tells_which_messages_were_starred(member: Speaker, other: Speaker) -> None:
    ids = [other.send([member.id]) for _ in range(3)]
    change(member, "starred", ids[:1])
    types = ["message", "update_message_flags"]
    with member.register(event_types=types) as queue, other.register(event_types=types) as theirs:
        change(member, "starred", ids[::-1])
        change(member, "starred", ids)
        change(member, "starred", ids[1:], "remove")
        added, removed = queue.so_far()
        assert theirs.so_far() == []
    expected = {"type": "update_message_flags", "flag": "starred", "all": False, "messages": ids[1:]}
    for event, op in ((added, "add"), (removed, "remove")):
        del event["id"]
        assert event == expected | {"op": op, "operation": op}


@pytest.mark.holds("flags.set")
def test_a_message_one_never_received_can_be_starred(newcomer: Speaker, other: Speaker, channel: Channel) -> None:
    sent = other.send(channel.stream_id, unique("seen"))
    change(newcomer, "starred", [sent])
    assert sorted(newcomer.get(f"messages/{sent}")["message"]["flags"]) == ["historical", "read", "starred"]
    assert starred(newcomer) == [sent]
    change(newcomer, "starred", [sent], "remove")
    assert sorted(newcomer.get(f"messages/{sent}")["message"]["flags"]) == ["historical", "read"]


@pytest.mark.holds("flags.others")
@pytest.mark.parametrize(("flag", "op"), [("starred", "add"), ("starred", "remove"), ("read", "remove")])
def test_what_is_out_of_reach_is_refused_as_what_does_not_exist(
    member: Speaker, other: Speaker, owner: Speaker, private: Channel, flag: str, op: str
) -> None:
    own = member.send([member.id])
    for strange in (owner.send([other.id]), owner.send(private.stream_id, unique("secret")), 2**50, 0, -1):
        reply = member.request("POST", "messages/flags", messages=[own, strange], op=op, flag=flag)
        assert check_error(reply).startswith("Invalid message(s)")
    assert member.message(own)["flags"] == []


@pytest.mark.holds("flags.left")
def test_marking_unread_what_one_is_not_subscribed_to_changes_nothing(
    newcomer: Speaker, other: Speaker, channel: Channel
) -> None:
    sent = other.send(channel.stream_id, unique("far"))
    with newcomer.register(event_types=["message", "update_message_flags"]) as queue:
        answer = mark(newcomer, [sent], "remove")
        assert answer["ignored_because_not_subscribed_channels"] == [channel.stream_id]
        assert queue.so_far() == []
    assert newcomer.unread()["count"] == 1  # the message that `so_far` sends


@pytest.mark.holds("flags.set")
def test_what_was_sent_before_one_subscribed_can_be_marked_unread(newcomer: Speaker, other: Speaker) -> None:
    name, topic = unique("before"), unique("topic")
    other.post("users/me/subscriptions", subscriptions=[{"name": name}])
    sent = other.send(name, topic)
    newcomer.post("users/me/subscriptions", subscriptions=[{"name": name}])
    assert newcomer.unread()["count"] == 0
    with newcomer.register(**TYPES) as queue:
        assert mark(newcomer, [sent], "remove")["ignored_because_not_subscribed_channels"] == []
        [event] = queue.poll()
    assert event["message_details"][str(sent)]["topic"] == topic
    [entry] = newcomer.unread()["streams"]
    assert (entry["topic"], entry["unread_message_ids"]) == (topic, [sent])
    mark(newcomer, [sent])
    assert newcomer.unread()["count"] == 0


@pytest.mark.holds("flags.unread-details")
def test_the_event_of_marking_unread_tells_whether_the_topic_is_muted(
    newcomer: Speaker, other: Speaker, channel: Channel
) -> None:
    newcomer.post("users/me/subscriptions", subscriptions=[{"name": channel.name}])
    topics = {policy: unique("muted") for policy in (0, 1, 2, 3)}
    ids = {policy: other.send(channel.stream_id, topic) for policy, topic in topics.items()}
    for policy, topic in topics.items():
        decide(newcomer, channel.stream_id, topic, policy)
    mark(newcomer, list(ids.values()))
    with newcomer.register(**TYPES) as queue:
        mark(newcomer, list(ids.values()), "remove")
        [event] = queue.poll()
    told = {policy: event["message_details"][str(sent)]["unmuted_stream_msg"] for policy, sent in ids.items()}
    assert told == {0: True, 1: False, 2: True, 3: True}


@pytest.mark.holds("flags.all")
def test_all_messages_are_marked_read_with_one_event(newcomer: Speaker, other: Speaker) -> None:
    newcomer.post("users/me/subscriptions", subscriptions=[{"name": (name := unique("all"))}])
    other.send(name, unique("topic"))
    other.send([newcomer.id])
    with newcomer.register(**TYPES) as queue:
        assert newcomer.post("mark_all_as_read") == {"result": "success", "msg": "", "complete": True}
        [event] = queue.poll()
    del event["id"]
    expected = {"op": "add", "operation": "add", "flag": "read", "messages": [], "all": True}
    assert event == {"type": "update_message_flags", **expected}
    assert newcomer.unread()["count"] == 0
    with newcomer.register(event_types=["message", "update_message_flags"]) as queue:
        newcomer.post("mark_all_as_read")
        assert queue.so_far() == []


@pytest.mark.holds("flags.all")
def test_a_channel_is_marked_read_and_nothing_else(newcomer: Speaker, other: Speaker) -> None:
    names = [unique("channel") for _ in range(2)]
    newcomer.post("users/me/subscriptions", subscriptions=[{"name": name} for name in names])
    ids = [other.send(names[0], unique("topic")) for _ in range(3)]
    elsewhere = other.send(names[1], unique("topic"))
    mark(newcomer, ids[1:2])
    stream_id = newcomer.message(ids[0])["stream_id"]
    with newcomer.register(**TYPES) as queue:
        newcomer.post("mark_stream_as_read", stream_id=stream_id)
        [event] = queue.poll()
    assert (event["op"], event["flag"], event["all"], event["messages"]) == ("add", "read", False, [ids[0], ids[2]])
    assert [entry["unread_message_ids"] for entry in newcomer.unread()["streams"]] == [[elsewhere]]


@pytest.mark.holds("flags.all", "errors.stream-does-not-exist")
def test_a_channel_that_cannot_be_read_is_refused(member: Speaker, private: Channel) -> None:
    for stream_id in (private.stream_id, 2**40):
        reply = member.request("POST", "mark_stream_as_read", stream_id=stream_id)
        check_error(reply, "STREAM_DOES_NOT_EXIST", stream_id=stream_id)
    assert "stream_id" in check_error(member.request("POST", "mark_stream_as_read"))


@pytest.mark.holds("flags.wrong")
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
        {"flag": "has_alert_word"},
        {"flag": "wildcard_mentioned"},
        {"flag": "is_private"},
    ],
)
def test_a_wrong_parameter_is_refused(member: Speaker, fields: Json) -> None:
    [name] = fields
    whole: Json = {"messages": "[5]", "op": "add", "flag": "read"}
    assert name in check_error(member.request("POST", "messages/flags", **(whole | fields))).lower()
