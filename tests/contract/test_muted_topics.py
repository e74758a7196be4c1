"""PATCH /users/me/subscriptions/muted_topics (protocol/channels.md#muted-topics)."""

import pytest

from tests.contract.policies import decide, muted, policies
from tests.harness.server import Channel
from tests.harness.talk import Json, Speaker, check_error, check_success, unique

PATH = "users/me/subscriptions/muted_topics"


def change(speaker: Speaker, op: str, topic: str, **channel: object) -> Json:
    return check_success(speaker.request("PATCH", PATH, op=op, topic=topic, **channel))


@pytest.mark.holds(
    "muted-topics.op",
    "muted-topics.topic",
    "muted-topics.no-messages",
    "states.topic-mute",
    "versioning.deprecated-muted-topics",
    "muted-topics.channel",
)
@pytest.mark.parametrize("by_name", [False, True])
def test_a_topic_is_muted_and_unmuted(newcomer: Speaker, channel: Channel, by_name: bool) -> None:
    topic = unique("old")
    named: Json = {"stream": f" {channel.name.upper()} "} if by_name else {"stream_id": channel.stream_id}
    assert change(newcomer, "add", topic, **named) == {"result": "success", "msg": ""}
    assert muted(newcomer) == [[channel.name, topic]]
    assert policies(newcomer) == {(channel.stream_id, topic): 1}
    change(newcomer, "remove", topic, **named)
    assert (muted(newcomer), policies(newcomer)) == ([], {})


@pytest.mark.holds("muted-topics.repeats", "states.topic-mute")
def test_repeats_are_no_error_and_are_told_to_nobody(newcomer: Speaker, channel: Channel) -> None:
    topic = unique("again")
    with newcomer.register(event_types=["message", "user_topic"]) as queue:
        for op in ("remove", "add", "add", "remove", "remove"):
            change(newcomer, op, topic, stream_id=channel.stream_id)
        assert [event["visibility_policy"] for event in queue.so_far()] == [1, 0]


@pytest.mark.holds("muted-topics.op")
def test_removing_clears_whatever_was_decided(newcomer: Speaker, channel: Channel) -> None:
    topic = unique("followed")
    for policy in (2, 3):
        decide(newcomer, channel.stream_id, topic, policy)
        change(newcomer, "remove", topic, stream_id=channel.stream_id)
        assert policies(newcomer) == {}


@pytest.mark.holds("muted-topics.op")
def test_muting_replaces_whatever_was_decided(newcomer: Speaker, channel: Channel) -> None:
    topic = unique("followed")
    decide(newcomer, channel.stream_id, topic, 3)
    change(newcomer, "add", topic.upper(), stream=channel.name)
    assert policies(newcomer) == {(channel.stream_id, topic): 1}


@pytest.mark.holds("user-topics.older-event")
def test_the_older_event_has_the_whole_list(newcomer: Speaker, channel: Channel) -> None:
    topics = sorted(unique("list") for _ in range(2))
    with newcomer.register(event_types=["message", "muted_topics"]) as queue:
        for topic in topics:
            change(newcomer, "add", topic, stream_id=channel.stream_id)
        change(newcomer, "remove", topics[0], stream_id=channel.stream_id)
        lists = [[topic for _, topic, _ in event["muted_topics"]] for event in queue.so_far()]
    assert lists == [topics[:1], topics, topics[1:]]


@pytest.mark.holds("conventions.empty-topic-name")
def test_the_empty_topic_is_shown_by_its_name_to_older_clients(
    newcomer: Speaker, channel: Channel, empty_topic: str
) -> None:
    with newcomer.register(event_types=["muted_topics"]) as queue:
        change(newcomer, "add", "", stream_id=channel.stream_id)
        [event] = queue.poll()
    assert event["muted_topics"][0][:2] == [channel.name, empty_topic]
    assert muted(newcomer) == [[channel.name, empty_topic]]


@pytest.mark.holds("muted-topics.topic-empty", "conventions.empty-topic-input")
def test_the_names_of_the_empty_topic_mean_the_empty_topic(
    newcomer: Speaker, channel: Channel, empty_topic: str
) -> None:
    for name in (empty_topic, "(no topic)", ""):
        change(newcomer, "add", name, stream_id=channel.stream_id)
        assert muted(newcomer) == [[channel.name, empty_topic]]
        change(newcomer, "remove", "(no topic)", stream=channel.name)
        assert muted(newcomer) == []


@pytest.mark.holds("muted-topics.channel")
def test_exactly_one_way_to_name_the_channel_is_required(member: Speaker, channel: Channel) -> None:
    both = {"stream_id": channel.stream_id, "stream": channel.name}
    for op in ("add", "remove"):
        assert "stream" in check_error(member.request("PATCH", PATH, op=op, topic="topic", **both))
    assert "stream_id" in check_error(member.request("PATCH", PATH, op="add", topic="topic"))


@pytest.mark.holds("muted-topics.unknown-channel", "errors.stream-does-not-exist")
def test_an_unknown_channel_is_refused(member: Speaker, private: Channel) -> None:
    named: list[Json] = [
        {"stream": unique("no")},
        {"stream_id": 2**40},
        {"stream": private.name},
        {"stream_id": private.stream_id},
    ]
    for channel in named:
        for op in ("add", "remove"):
            reply = member.request("PATCH", PATH, op=op, topic="topic", **channel)
            check_error(reply, "STREAM_DOES_NOT_EXIST", **channel)


@pytest.mark.holds("muted-topics.topic", "muted-topics.op")
@pytest.mark.parametrize("fields", [{"op": None}, {"op": "mute"}, {"topic": None}, {"stream_id": "general"}])
def test_a_wrong_parameter_is_refused(member: Speaker, channel: Channel, fields: Json) -> None:
    [name] = fields
    whole: Json = {"stream_id": channel.stream_id, "topic": "topic", "op": "add"}
    assert name in check_error(member.request("PATCH", PATH, **(whole | fields))).lower()
