"""PATCH /messages/{id} with a topic or a channel (protocol/messages.md#edit-message)."""

import pytest

from tests.contract.changes import edit, events, history, listen, new_channel, one, refused, topic_ids
from tests.contract.conftest import Cast
from tests.harness.server import Channel
from tests.harness.talk import Json, Speaker, check_error, unique

QUIET = {"send_notification_to_new_thread": False}


def three(speaker: Speaker, channel: Channel, topic: str) -> list[int]:
    return [speaker.send(channel.stream_id, topic, f"{number}") for number in range(3)]


@pytest.mark.holds("edit-message.move")
@pytest.mark.parametrize(("mode", "stay"), [("change_one", [0, 2]), ("change_later", [0]), ("change_all", [])])
def test_one_message_or_the_later_ones_or_all_go_to_another_topic(
    member: Speaker, other: Speaker, channel: Channel, mode: str, stay: list[int]
) -> None:
    old, new = unique("old"), unique("new")
    sent = three(member, channel, old)
    moved = [number for index, number in enumerate(sent) if index not in stay]
    with listen(other) as queue:
        edit(other, sent[1], topic=new, propagate_mode=mode, **QUIET)
        [event] = events(queue)
    assert topic_ids(member, channel.stream_id, old) == [sent[index] for index in stay]
    assert topic_ids(member, channel.stream_id, new) == moved
    del event["id"], event["edit_timestamp"]
    assert event == {
        "type": "update_message",
        "user_id": other.id,
        "rendering_only": False,
        "message_id": sent[1],
        "message_ids": moved,
        "flags": [],
        "stream_id": channel.stream_id,
        "stream_name": channel.name,
        "propagate_mode": mode,
        "orig_subject": old,
        "subject": new,
        "topic_links": [],
    }


@pytest.mark.holds("edit-message.move")
def test_one_message_is_the_default(member: Speaker, channel: Channel) -> None:
    old, new = unique("old"), unique("new")
    sent = three(member, channel, old)
    edit(member, sent[0], subject=new, **QUIET)
    assert topic_ids(member, channel.stream_id, new) == sent[:1]


@pytest.mark.holds("edit-message.move")
def test_a_topic_can_go_into_one_that_exists(member: Speaker, channel: Channel) -> None:
    old, new = unique("old"), unique("New")
    first, there, second = three(member, channel, old), three(member, channel, new), three(member, channel, old)
    edit(member, first[0], topic=new.upper(), propagate_mode="change_all", **QUIET)
    assert topic_ids(member, channel.stream_id, new) == [*first, *there, *second]
    assert one(member, first[0])["subject"] == new
    sent = member.send(channel.stream_id, old)
    assert topic_ids(member, channel.stream_id, old) == [sent]


@pytest.mark.holds("edit-message.move")
def test_another_spelling_is_a_new_name_of_the_topic_and_nobody_says_a_word(member: Speaker, channel: Channel) -> None:
    topic = unique("spelling")
    sent = three(member, channel, topic)
    with listen(member) as queue:
        fields = {"send_notification_to_old_thread": True, "propagate_mode": "change_all"}
        edit(member, sent[0], topic=topic.upper(), **fields)
        heard = [event for event in queue.so_far() if event["type"] != "user_topic"]
    assert [event["type"] for event in heard] == ["update_message"]
    assert heard[0]["message_ids"] == sent
    assert {one(member, number)["subject"] for number in sent} == {topic.upper()}


@pytest.mark.holds("edit-message.move")
def test_messages_may_go_to_the_empty_topic_and_from_it(member: Speaker, channel: Channel, empty_topic: str) -> None:
    topic = unique("named")
    sent = member.send(channel.stream_id, topic)
    with listen(member, empty_topic_name=False) as plain, listen(member) as knowing:
        edit(member, sent, topic=empty_topic, **QUIET)
        assert [events(queue)[0]["subject"] for queue in (plain, knowing)] == [empty_topic, ""]
    assert one(member, sent)["subject"] == empty_topic
    [entry] = one(member, sent, allow_empty_topic_name=True)["edit_history"]
    assert (entry["prev_topic"], entry["topic"]) == (topic, "")
    with listen(member, empty_topic_name=False) as plain:
        edit(member, sent, topic=topic, **QUIET)
        assert events(plain)[0]["orig_subject"] == empty_topic


@pytest.mark.holds("edit-message.move-recorded")
def test_a_move_is_told_in_the_message(member: Speaker, channel: Channel) -> None:
    old, new = unique("old"), unique("new")
    sent = three(member, channel, old)
    edit(member, sent[1], topic=new, propagate_mode="change_later", **QUIET)
    message = one(member, sent[2])
    [entry] = message["edit_history"]
    assert (entry["prev_topic"], entry["topic"], entry["user_id"]) == (old, new, member.id)
    assert set(entry) == {"user_id", "timestamp", "prev_topic", "topic"}
    assert message["last_moved_timestamp"] == entry["timestamp"]
    assert "last_edit_timestamp" not in message
    assert "edit_history" not in one(member, sent[0])


@pytest.mark.holds("edit-message.move-recorded")
def test_the_history_tells_each_place_a_message_was_in(member: Speaker, channel: Channel) -> None:
    names = [unique(f"topic {number}") for number in range(5)]
    first, second = member.send(channel.stream_id, names[0], "a"), member.send(channel.stream_id, names[0], "b")
    edit(member, first, topic=names[1], propagate_mode="change_all", **QUIET)
    late = member.send(channel.stream_id, names[1], "c")
    edit(member, first, topic=names[2], propagate_mode="change_all", **QUIET)
    edit(member, second, topic=names[3], content="B", **QUIET)
    edit(member, second, topic=names[2], **QUIET)
    edit(member, first, topic=names[4], propagate_mode="change_all", **QUIET)
    seen = {number: [version["topic"] for version in history(member, number)] for number in (first, second, late)}
    assert seen == {
        first: [names[0], names[1], names[2], names[4]],
        second: [names[0], names[1], names[2], names[3], names[2], names[4]],
        late: [names[1], names[2], names[4]],
    }
    both = history(member, second)[3]
    assert (both["content"], both["prev_content"], both["prev_topic"]) == ("B", "b", names[2])


@pytest.mark.holds("edit-message.move")
def test_content_and_topic_change_together(member: Speaker, other: Speaker, channel: Channel) -> None:
    old, new = unique("old"), unique("new")
    sent = three(member, channel, old)
    with listen(other) as queue:
        edit(member, sent[1], topic=new, content="changed", propagate_mode="change_all", **QUIET)
        [event] = events(queue)
    assert (event["message_ids"], event["subject"], event["content"]) == (sent, new, "changed")
    [entry] = one(member, sent[1])["edit_history"]
    assert (entry["prev_content"], entry["prev_topic"]) == ("1", old)
    assert set(one(member, sent[0])["edit_history"][0]) == {"user_id", "timestamp", "prev_topic", "topic"}


@pytest.mark.holds("edit-message.read-stays")
def test_what_is_read_stays_read(member: Speaker, other: Speaker, channel: Channel) -> None:
    old, new = unique("old"), unique("new")
    sent = three(member, channel, old)
    other.post("messages/flags", messages=sent[:1], op="add", flag="read")
    edit(member, sent[0], topic=new, propagate_mode="change_all", **QUIET)
    assert [one(other, number)["flags"] for number in sent] == [["read"], [], []]
    assert [part["unread_message_ids"] for part in other.unread()["streams"] if part["topic"] == new] == [sent[1:]]


@pytest.mark.holds("edit-message.move-told")
def test_both_places_are_told_where_messages_went(member: Speaker, other: Speaker, channel: Channel) -> None:
    old, new = unique("old"), unique("new")
    sent = three(member, channel, old)
    with listen(other) as queue:
        edit(member, sent[0], topic=new, send_notification_to_old_thread=True)
        said = {event["message"]["subject"]: event["message"] for event in events(queue, "message")}
    assert f"{new}@{sent[0]}" in one(other, said[old]["id"], apply_markdown=False)["content"]
    assert old in one(other, said[new]["id"], apply_markdown=False)["content"]
    assert {message["sender_id"] for message in said.values()}.isdisjoint({member.id, other.id})
    assert one(member, said[new]["id"])["flags"] == ["read"]


@pytest.mark.holds("edit-message.resolve")
def test_a_topic_is_resolved_with_a_word_and_again_without(member: Speaker, other: Speaker, channel: Channel) -> None:
    topic = unique("problem")
    sent = three(member, channel, topic)
    with listen(other) as queue:
        edit(other, sent[0], topic=f"✔ {topic}", propagate_mode="change_all")
        [said] = events(queue, "message")
    assert said["message"]["subject"] == f"✔ {topic}"
    assert topic_ids(other, channel.stream_id, f"✔ {topic}") == [*sent, said["message"]["id"]]
    assert "last_moved_timestamp" not in one(other, sent[0])
    with listen(other) as queue:
        edit(other, sent[0], topic=topic, propagate_mode="change_all")
        heard = queue.so_far()
    assert [event["message_ids"] for event in heard if event["type"] == "delete_message"] == [[said["message"]["id"]]]
    assert "message" not in {event["type"] for event in heard}
    assert topic_ids(other, channel.stream_id, topic) == sent


@pytest.mark.holds("edit-message.resolve")
def test_the_empty_topic_is_not_resolved(member: Speaker, channel: Channel, empty_topic: str) -> None:
    sent = member.send(channel.stream_id, "")
    for topic in ("✔", "✔ ", f"✔ {empty_topic}"):
        refused(member, sent, topic=topic)


@pytest.mark.holds("edit-message.senseless")
@pytest.mark.parametrize(
    "fields",
    [
        {"topic": "a\tb"},
        {"topic": "same"},
        {"topic": "Same", "subject": "x"},
    ],
)
def test_a_move_to_nowhere_is_refused(member: Speaker, channel: Channel, fields: Json) -> None:
    sent = member.send(channel.stream_id, "same")
    code = "REQUEST_CONFUSING_VAR" if "subject" in fields else "BAD_REQUEST"
    reply = member.request("PATCH", f"messages/{sent}", **fields)
    assert (reply.status_code, reply.json()["code"]) == (400, code)


@pytest.mark.holds("edit-message.move-unknown", "errors.stream-does-not-exist", "errors.impossible-ids")
def test_a_channel_out_of_reach_is_none_to_move_to(member: Speaker, channel: Channel, private: Channel) -> None:
    sent = member.send(channel.stream_id, unique("same"))
    for stream_id in (private.stream_id, 999_999_999, -1, 2**63):
        reply = member.request("PATCH", f"messages/{sent}", stream_id=stream_id)
        check_error(reply, "STREAM_DOES_NOT_EXIST", stream_id=stream_id)


@pytest.mark.holds("edit-message.move-refused")
def test_direct_messages_go_nowhere(member: Speaker, channel: Channel) -> None:
    sent = member.send([member.id])
    refused(member, sent, topic="x")
    refused(member, sent, stream_id=channel.stream_id)


@pytest.mark.holds("edit-message.move")
def test_messages_go_to_another_channel(cast: Cast) -> None:
    target = new_channel(cast.owner, cast.member, cast.other)
    old, new = unique("old"), unique("new")
    sent = three(cast.member, cast.channel, old)
    there = cast.member.send(target, new)
    with listen(cast.other) as queue:
        fields = {"topic": new, "propagate_mode": "change_later", **QUIET}
        edit(cast.member, sent[1], stream_id=target, **fields)
        [event] = events(queue)
    assert topic_ids(cast.other, cast.channel.stream_id, old) == sent[:1]
    assert topic_ids(cast.other, target, new) == [*sent[1:], there]
    assert (event["stream_id"], event["new_stream_id"], event["message_ids"]) == (
        cast.channel.stream_id,
        target,
        sent[1:],
    )
    assert (event["orig_subject"], event["subject"]) == (old, new)
    message = one(cast.other, sent[1])
    assert (message["stream_id"], message["subject"]) == (target, new)
    [entry] = message["edit_history"]
    assert (entry["prev_stream"], entry["stream"]) == (cast.channel.stream_id, target)
    assert message["last_moved_timestamp"] == entry["timestamp"]


@pytest.mark.holds("edit-message.move")
def test_a_topic_keeps_its_name_in_another_channel(cast: Cast) -> None:
    target = new_channel(cast.owner, cast.member)
    topic = unique("kept")
    sent = three(cast.member, cast.channel, topic)
    with listen(cast.owner) as queue:
        edit(cast.member, sent[0], stream_id=target, propagate_mode="change_all", **QUIET)
        [event] = events(queue)
    assert "subject" not in event
    assert event["orig_subject"] == topic
    assert topic_ids(cast.owner, target, topic) == sent


@pytest.mark.holds("edit-message.read-stays")
def test_readers_have_read_there_what_they_had_read_here(cast: Cast) -> None:
    target = new_channel(cast.owner, cast.member, cast.other)
    topic = unique("reading")
    sent = three(cast.member, cast.channel, topic)
    cast.other.post("messages/flags", messages=sent[1:2], op="add", flag="read")
    edit(cast.member, sent[0], stream_id=target, propagate_mode="change_all", **QUIET)
    assert [one(cast.other, number)["flags"] for number in sent] == [[], ["read"], []]
    [unread] = [part for part in cast.other.unread()["streams"] if part["stream_id"] == target]
    assert (unread["topic"], unread["unread_message_ids"]) == (topic, [sent[0], sent[2]])


@pytest.mark.holds("edit-message.move-access")
def test_for_those_who_were_not_there_everything_that_comes_is_read(cast: Cast) -> None:
    source = new_channel(cast.owner, cast.member)
    target = new_channel(cast.owner, cast.member, cast.other)
    sent = cast.member.send(source, "topic")
    edit(cast.owner, sent, stream_id=target, **QUIET)
    assert "read" in one(cast.other, sent)["flags"]
    assert cast.owner.unread()["count"] >= 1
    assert one(cast.owner, sent)["flags"] == []


@pytest.mark.holds("edit-message.move-access")
def test_whoever_loses_sight_of_messages_hears_that_they_are_gone(cast: Cast) -> None:
    source, secret = new_channel(cast.owner, cast.member), new_channel(cast.owner, private=True)
    sent = cast.member.send(source, "topic")
    with listen(cast.member) as loser, listen(cast.owner) as keeper:
        edit(cast.owner, sent, stream_id=secret, **QUIET)
        heard = [event for event in loser.so_far() if event["type"] not in ("stream", "user_topic")]
        assert [(event["type"], event["message_ids"]) for event in heard] == [("delete_message", [sent])]
        assert (heard[0]["stream_id"], heard[0]["topic"]) == (source, "topic")
        assert events(keeper)[0]["new_stream_id"] == secret
    refused(cast.member, sent, content="x")


@pytest.mark.holds("edit-message.move-refused")
def test_content_does_not_change_on_the_way_to_another_channel(cast: Cast) -> None:
    target = new_channel(cast.owner, cast.member)
    sent = cast.member.send(cast.channel.stream_id, unique("both"), "a")
    refused(cast.member, sent, stream_id=target, content="b")
    edit(cast.member, sent, stream_id=cast.channel.stream_id, content="b")
    assert one(cast.member, sent, apply_markdown=False)["content"] == "b"


@pytest.mark.holds("edit-message.move")
def test_the_first_message_of_both_channels_is_right(cast: Cast) -> None:
    source, target = new_channel(cast.owner, cast.member), new_channel(cast.owner, cast.member)
    sent = [cast.member.send(source, "topic") for _ in range(2)]
    cast.member.send(target, "there")
    with listen(cast.owner) as queue:
        edit(cast.member, sent[0], stream_id=target, **QUIET)
        told = {event["stream_id"]: event["value"] for event in events(queue, "stream")}
    assert told == {source: sent[1], target: sent[0]}


@pytest.mark.holds("edit-message.move-policies")
def test_decisions_about_a_topic_go_with_it(cast: Cast) -> None:
    old, new = unique("old"), unique("new")
    sent = three(cast.member, cast.channel, old)
    cast.other.post("user_topics", stream_id=cast.channel.stream_id, topic=old, visibility_policy=3)
    with listen(cast.other) as queue:
        edit(cast.member, sent[0], topic=new, propagate_mode="change_all", **QUIET)
        told = [(event["topic_name"], event["visibility_policy"]) for event in events(queue, "user_topic")]
    assert told == [(old, 0), (new, 3)]
    target = new_channel(cast.owner, cast.member, cast.other)
    with listen(cast.other) as queue:
        edit(cast.member, sent[0], stream_id=target, propagate_mode="change_all", **QUIET)
        told = [(event["stream_id"], event["visibility_policy"]) for event in events(queue, "user_topic")]
    assert told == [(cast.channel.stream_id, 0), (target, 3)]


@pytest.mark.holds("edit-message.move-policies")
@pytest.mark.parametrize(("here", "there", "after"), [(1, 3, 3), (2, 1, 2), (0, 1, 0), (1, 0, 0), (3, 2, 3)])
def test_when_topics_become_one_the_more_visible_decision_wins(cast: Cast, here: int, there: int, after: int) -> None:
    old, new = unique("old"), unique("new")
    sent = three(cast.member, cast.channel, old)
    three(cast.member, cast.channel, new)
    for topic, policy in ((old, here), (new, there)):
        cast.other.post("user_topics", stream_id=cast.channel.stream_id, topic=topic, visibility_policy=policy)
    edit(cast.member, sent[0], topic=new, propagate_mode="change_all", **QUIET)
    state = cast.other.post("register", event_types=[], fetch_event_types=["user_topic"])
    found = {one["topic_name"]: one["visibility_policy"] for one in state["user_topics"]}
    assert (found.get(old, 0), found.get(new, 0)) == (0, after)
