"""POST /mark_topic_as_read (protocol/messages.md#mark-topic-as-read)."""

from collections.abc import Callable

import pytest

from tests.harness.server import Channel
from tests.harness.talk import Json, Speaker, check_error, unique

TYPES = {"event_types": ["message", "update_message_flags"]}


@pytest.fixture
def reader(newcomer: Speaker, channel: Channel) -> Speaker:
    newcomer.post("users/me/subscriptions", subscriptions=[{"name": channel.name}])
    return newcomer


@pytest.fixture
def unread(reader: Speaker) -> Callable[[], dict[str, list[int]]]:
    """The reader's unread messages by topic."""
    return lambda: {entry["topic"]: entry["unread_message_ids"] for entry in reader.unread()["streams"]}


def read(speaker: Speaker, channel: Channel, topic: str) -> Json:
    return speaker.post("mark_topic_as_read", stream_id=channel.stream_id, topic_name=topic)


@pytest.mark.holds("mark-topic-as-read.marks", "mark-topic-as-read.answer", "versioning.deprecated-mark-topic")
def test_a_topic_is_marked_read_and_the_others_are_not(
    reader: Speaker, other: Speaker, channel: Channel, unread: Callable[[], Json]
) -> None:
    first, second = unique("first"), unique("second")
    sent: dict[str, list[int]] = {first: [], second: []}
    for topic in (first, second, first, second, first):
        sent[topic].append(other.send(channel.stream_id, topic))
    assert unread() == sent
    assert read(reader, channel, first) == {"result": "success", "msg": ""}
    assert unread() == {second: sent[second]}
    assert [reader.message(id)["flags"] for id in sent[first]] == [["read"]] * 3


@pytest.mark.holds("mark-topic-as-read.told")
def test_one_event_tells_which_messages_became_read(reader: Speaker, other: Speaker, channel: Channel) -> None:
    topic = unique("told")
    ids = [other.send(channel.stream_id, topic) for _ in range(3)]
    reader.post("messages/flags", messages=ids[:1], op="add", flag="read")
    with reader.register(**TYPES) as queue, other.register(**TYPES) as theirs:
        read(reader, channel, topic)
        read(reader, channel, topic)
        [event] = queue.so_far()
        assert theirs.so_far() == []
    assert (event["op"], event["flag"], event["messages"], event["all"]) == ("add", "read", ids[1:], False)


@pytest.mark.holds("mark-topic-as-read.topic-name")
def test_case_does_not_matter(reader: Speaker, other: Speaker, channel: Channel, unread: Callable[[], Json]) -> None:
    topic = unique("Case")
    other.send(channel.stream_id, topic)
    read(reader, channel, topic.upper())
    assert unread() == {}


@pytest.mark.holds("mark-topic-as-read.empty-only", "mark-topic-as-read.topic-name", "conventions.empty-topic-input")
def test_the_empty_topic_is_that_topic_only(
    reader: Speaker, other: Speaker, channel: Channel, unread: Callable[[], Json], empty_topic: str
) -> None:
    topic = unique("named")
    kept = other.send(channel.stream_id, topic)
    for name in ("", empty_topic, "(no topic)"):
        sent = other.send(channel.stream_id, "")
        assert unread() == {topic: [kept], "": [sent]}
        read(reader, channel, name)
        assert unread() == {topic: [kept]}


@pytest.mark.holds("mark-topic-as-read.unknown-topic")
def test_an_unknown_topic_changes_nothing(
    reader: Speaker, other: Speaker, channel: Channel, unread: Callable[[], Json]
) -> None:
    other.send(channel.stream_id, unique("known"))
    before = unread()
    with reader.register(**TYPES) as queue:
        read(reader, channel, unique("unknown"))
        assert queue.so_far() == []
    assert unread() == before


@pytest.mark.holds("mark-topic-as-read.marks")
def test_whoever_is_not_subscribed_has_nothing_to_read(newcomer: Speaker, other: Speaker, channel: Channel) -> None:
    topic = unique("far")
    sent = other.send(channel.stream_id, topic)
    with newcomer.register(**TYPES) as queue:
        read(newcomer, channel, topic)
        assert queue.so_far() == []
    assert newcomer.get(f"messages/{sent}")["message"]["flags"] == ["read", "historical"]


@pytest.mark.holds("mark-topic-as-read.out-of-reach", "errors.stream-does-not-exist")
def test_a_channel_out_of_reach_is_refused_as_one_that_does_not_exist(member: Speaker, private: Channel) -> None:
    for stream_id in (private.stream_id, 2**40):
        reply = member.request("POST", "mark_topic_as_read", stream_id=stream_id, topic_name="topic")
        check_error(reply, "STREAM_DOES_NOT_EXIST", stream_id=stream_id)


@pytest.mark.holds("mark-topic-as-read.stream-id", "mark-topic-as-read.topic-name")
@pytest.mark.parametrize("fields", [{"stream_id": None}, {"stream_id": "x"}, {"topic_name": None}])
def test_a_wrong_parameter_is_refused(member: Speaker, channel: Channel, fields: Json) -> None:
    [name] = fields
    whole: Json = {"stream_id": channel.stream_id, "topic_name": "topic"}
    assert name in check_error(member.request("POST", "mark_topic_as_read", **(whole | fields))).lower()
