"""POST /user_topics (protocol/channels.md#user-topics)."""

import time

import pytest

from tests.contract.policies import CAPABLE, decide, muted, policies
from tests.harness.server import Channel
from tests.harness.talk import Json, Speaker, check_error, unique

TYPES = {"event_types": ["message", "user_topic"]}


@pytest.mark.holds(
    "user-topics.policy",
    "user-topics.answer",
    "topic-visibility.values",
    "topic-visibility.none",
    "versioning.level-170",
)
@pytest.mark.parametrize("policy", [1, 2, 3])
def test_each_policy_is_kept_and_cleared_by_none(newcomer: Speaker, channel: Channel, policy: int) -> None:
    topic = unique("policy")
    assert decide(newcomer, channel.stream_id, topic, policy) == {"result": "success", "msg": ""}
    assert policies(newcomer) == {(channel.stream_id, topic): policy}
    decide(newcomer, channel.stream_id, topic, 0)
    assert policies(newcomer) == {}


@pytest.mark.holds("states.topic-policy", "topic-visibility.values")
def test_any_policy_follows_any_other(newcomer: Speaker, channel: Channel) -> None:
    topic = unique("any")
    for policy in (1, 3, 2, 1, 2, 3, 1):
        decide(newcomer, channel.stream_id, topic, policy)
        assert policies(newcomer) == {(channel.stream_id, topic): policy}


@pytest.mark.holds("user-topics.no-messages", "states.topic-policy", "user-topics.not-listed")
def test_a_topic_without_messages_can_be_decided_about_and_then_used(member: Speaker, channel: Channel) -> None:
    topic = unique("first")
    decide(member, channel.stream_id, topic, 3)
    listed = f"users/me/{channel.stream_id}/topics"
    assert topic not in [one["name"] for one in member.get(listed)["topics"]]
    sent = member.send(channel.stream_id, topic)
    assert member.message(sent)["subject"] == topic
    assert {"name": topic, "max_id": sent} in member.get(listed)["topics"]


@pytest.mark.holds("user-topics.topic")
def test_two_spellings_in_different_case_are_one_topic(member: Speaker, newcomer: Speaker, channel: Channel) -> None:
    topic = unique("Case")
    member.send(channel.stream_id, topic)
    decide(newcomer, channel.stream_id, topic.upper(), 1)
    decide(newcomer, channel.stream_id, f"  {topic.lower()} ", 3)
    assert policies(newcomer) == {(channel.stream_id, topic): 3}


@pytest.mark.holds("user-topics.topic-empty", "conventions.empty-topic-input")
def test_the_names_of_the_empty_topic_mean_the_empty_topic(
    newcomer: Speaker, channel: Channel, empty_topic: str
) -> None:
    for name in (empty_topic, "(no topic)", " (no topic) ", ""):
        decide(newcomer, channel.stream_id, name, 1)
        assert policies(newcomer, client_capabilities=CAPABLE) == {(channel.stream_id, ""): 1}
        assert policies(newcomer) == {(channel.stream_id, empty_topic): 1}
        decide(newcomer, channel.stream_id, "", 0)
        assert policies(newcomer) == {}


@pytest.mark.holds("user-topics.personal")
def test_policies_are_personal(newcomer: Speaker, other: Speaker, channel: Channel) -> None:
    topic = unique("mine")
    with other.register(**TYPES) as queue:
        decide(newcomer, channel.stream_id, topic, 1)
        assert queue.so_far() == []
    assert (channel.stream_id, topic) not in policies(other)


@pytest.mark.holds("user-topics.told", "events.user-topic")
def test_a_change_is_told_with_everything_about_it(newcomer: Speaker, channel: Channel) -> None:
    topic, before = unique("told"), int(time.time())
    with newcomer.register(event_types=["user_topic"]) as queue:
        for policy in (1, 3, 0):
            decide(newcomer, channel.stream_id, topic, policy)
            [event] = queue.poll()
            assert before - 5 <= event.pop("last_updated") <= time.time() + 5
            del event["id"]
            assert event == {
                "type": "user_topic",
                "stream_id": channel.stream_id,
                "topic_name": topic,
                "visibility_policy": policy,
            }


@pytest.mark.holds("user-topics.told")
def test_the_event_and_the_state_name_the_same_time(newcomer: Speaker, channel: Channel) -> None:
    with newcomer.register(event_types=["user_topic"]) as queue:
        decide(newcomer, channel.stream_id, unique("time"), 2)
        [event] = queue.poll()
    with newcomer.register(fetch_event_types=["user_topic"]) as queue:
        [found] = queue.state["user_topics"]
    del event["id"], event["type"]
    assert found == event


@pytest.mark.holds("register.empty-topic")
def test_the_empty_topic_is_named_in_events_as_the_client_wants(
    newcomer: Speaker, channel: Channel, empty_topic: str
) -> None:
    types = {"event_types": ["user_topic"]}
    with newcomer.register(**types) as plain, newcomer.register(**types, client_capabilities=CAPABLE) as knowing:
        decide(newcomer, channel.stream_id, "", 3)
        assert [plain.poll()[0]["topic_name"], knowing.poll()[0]["topic_name"]] == [empty_topic, ""]


@pytest.mark.holds("user-topics.told")
def test_what_changes_nothing_is_told_to_nobody(newcomer: Speaker, channel: Channel) -> None:
    topic = unique("again")
    decide(newcomer, channel.stream_id, topic, 2)
    with newcomer.register(event_types=["message", "user_topic", "muted_topics"]) as queue:
        decide(newcomer, channel.stream_id, topic, 2)
        decide(newcomer, channel.stream_id, unique("none"), 0)
        assert queue.so_far() == []


@pytest.mark.holds("user-topics.older-event")
def test_clients_that_want_everything_hear_the_older_event_first(newcomer: Speaker, channel: Channel) -> None:
    topic = unique("both")
    with newcomer.register(event_types=None) as queue:
        decide(newcomer, channel.stream_id, topic, 1)
        events = [event for event in queue.so_far() if event["type"] in ("muted_topics", "user_topic")]
    assert [event["type"] for event in events] == ["muted_topics", "user_topic"]
    [[name, shown, since]] = events[0]["muted_topics"]
    assert (name, shown, since) == (channel.name, topic, events[1]["last_updated"])


@pytest.mark.holds("user-topics.older-event")
def test_clients_that_name_the_newer_event_do_not_hear_the_older_one(newcomer: Speaker, channel: Channel) -> None:
    with newcomer.register(event_types=["message", "user_topic", "muted_topics"]) as queue:
        decide(newcomer, channel.stream_id, unique("newer"), 1)
        assert [event["type"] for event in queue.so_far()] == ["user_topic"]
    with newcomer.register(event_types=["message", "muted_topics"]) as queue:
        decide(newcomer, channel.stream_id, unique("older"), 1)
        assert [event["type"] for event in queue.so_far()] == ["muted_topics"]


@pytest.mark.holds("user-topics.older-event")
def test_the_older_state_is_left_out_for_clients_that_ask_for_both(newcomer: Speaker, channel: Channel) -> None:
    topic = unique("both")
    decide(newcomer, channel.stream_id, topic, 1)
    assert muted(newcomer) == [[channel.name, topic]]
    with newcomer.register(fetch_event_types=["user_topic", "muted_topics"]) as queue:
        assert "muted_topics" not in queue.state
        assert len(queue.state["user_topics"]) == 1
    with newcomer.register(event_types=None, fetch_event_types=None) as queue:
        assert (len(queue.state["muted_topics"]), len(queue.state["user_topics"])) == (1, 1)


@pytest.mark.holds("user-topics.older-event")
def test_only_muted_topics_are_in_the_older_state(newcomer: Speaker, channel: Channel) -> None:
    for policy in (2, 3):
        decide(newcomer, channel.stream_id, unique("else"), policy)
    assert muted(newcomer) == []


@pytest.mark.holds("user-topics.out-of-reach", "errors.stream-does-not-exist")
def test_a_channel_out_of_reach_is_refused_as_one_that_does_not_exist(
    member: Speaker, guest: Speaker, channel: Channel, private: Channel
) -> None:
    for speaker, stream_id in ((member, private.stream_id), (guest, channel.stream_id), (member, 2**40)):
        for policy in (0, 1, 2, 3):
            fields = {"stream_id": stream_id, "topic": "topic", "visibility_policy": policy}
            reply = speaker.request("POST", "user_topics", **fields)
            check_error(reply, "STREAM_DOES_NOT_EXIST", stream_id=stream_id)


@pytest.mark.holds("user-topics.out-of-reach")
def test_a_policy_can_be_cleared_in_a_channel_one_cannot_read_any_more(newcomer: Speaker, owner: Speaker) -> None:
    name, topic = unique("secret"), unique("topic")
    newcomer.post("users/me/subscriptions", subscriptions=[{"name": name}], invite_only=True)
    stream_id = newcomer.message(newcomer.send(name, topic))["stream_id"]
    decide(newcomer, stream_id, topic, 1)
    newcomer.delete("users/me/subscriptions", subscriptions=[name])
    fields = {"stream_id": stream_id, "topic": topic, "visibility_policy": 3}
    check_error(newcomer.request("POST", "user_topics", **fields), "STREAM_DOES_NOT_EXIST", stream_id=stream_id)
    for _ in range(2):
        decide(newcomer, stream_id, topic, 0)
    assert policies(newcomer) == {}


@pytest.mark.holds("user-topics.stream-id", "user-topics.topic", "user-topics.policy")
@pytest.mark.parametrize(
    "fields",
    [
        {"stream_id": None},
        {"stream_id": "x"},
        {"stream_id": "[1]"},
        {"topic": None},
        {"topic": "a\x07b"},
        {"visibility_policy": None},
        {"visibility_policy": "4"},
        {"visibility_policy": "-1"},
        {"visibility_policy": "true"},
        {"visibility_policy": "mute"},
    ],
)
def test_a_wrong_parameter_is_refused(member: Speaker, channel: Channel, fields: Json) -> None:
    [name] = fields
    whole: Json = {"stream_id": channel.stream_id, "topic": "topic", "visibility_policy": 1}
    assert name in check_error(member.request("POST", "user_topics", **(whole | fields))).lower()
    assert (channel.stream_id, "topic") not in policies(member)


@pytest.mark.holds("authentication.missing")
def test_somebody_unknown_is_refused(nobody: Speaker, channel: Channel) -> None:
    fields = {"stream_id": channel.stream_id, "topic": "topic", "visibility_policy": 1}
    check_error(nobody.request("POST", "user_topics", **fields), code="UNAUTHORIZED", status=401)
