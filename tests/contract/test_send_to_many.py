"""Mentions of many, topics that are required, policies that sending changes (protocol/messages.md#send-message)."""

import json
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.contract.policies import decide, policies
from tests.contract.subscribing import join, make
from tests.harness.server import MEMBER, Channel, Server, User
from tests.harness.talk import Json, Speaker, check_error, check_success, speaking, unique

MANY = 16
CHANNEL_WILDCARDS = ("all", "everyone", "channel", "stream")


@pytest.fixture(scope="module")
def crowd(server: Server) -> Iterator[list[Speaker]]:
    """So many bots of the owner's that a channel with them in it has many subscribers."""
    with ExitStack() as stack:
        owner = stack.enter_context(speaking(server, server.owner))
        bots = []
        for _ in range(MANY):
            name = unique("crowd").replace(" ", "-")
            made = owner.post("bots", full_name=name, short_name=name)
            user = next(one for one in owner.get("users")["members"] if one["user_id"] == made["user_id"])
            bots.append(User(made["user_id"], user["email"], None, made["api_key"], MEMBER))
        yield [stack.enter_context(speaking(server, bot)) for bot in bots]


def channel_with(owner: Speaker, people: list[Speaker]) -> Json:
    channel = make(owner)
    join(owner, channel["name"], principals=[one.id for one in people])
    return channel


def fields_of(channel: Json, content: str, topic: str = "t") -> Json:
    return {"type": "channel", "to": channel["stream_id"], "topic": topic, "content": content}


# Wildcards


@pytest.mark.holds("send-message.stream-wildcard", "errors.stream-wildcard")
def test_a_channel_with_many_subscribers_is_mentioned_only_by_those_who_may(
    owner: Speaker, member: Speaker, crowd: list[Speaker]
) -> None:
    channel = channel_with(owner, [member, *crowd])
    for word in CHANNEL_WILDCARDS:
        reply = member.request("POST", "messages", **fields_of(channel, f"Hello @**{word}**"))
        check_error(reply, "STREAM_WILDCARD_MENTION_NOT_ALLOWED")
        assert member.post("messages", **fields_of(channel, f"Hello @_**{word}**"))["id"]
        sent = owner.post("messages", **fields_of(channel, f"Hello @**{word}**"))["id"]
        assert {"stream_wildcard_mentioned", "wildcard_mentioned"} <= set(member.message(sent)["flags"])


@pytest.mark.holds("send-message.stream-wildcard")
def test_at_15_subscribers_anybody_may_mention_the_channel(
    owner: Speaker, member: Speaker, crowd: list[Speaker]
) -> None:
    channel = channel_with(owner, [member, *crowd[:13]])
    assert member.post("messages", **fields_of(channel, "@**all**"))["id"]
    join(owner, channel["name"], principals=[crowd[13].id])
    check_error(
        member.request("POST", "messages", **fields_of(channel, "@**all**")), "STREAM_WILDCARD_MENTION_NOT_ALLOWED"
    )


@pytest.mark.holds("send-message.topic-wildcard", "errors.topic-wildcard")
def test_a_topic_with_many_participants_is_mentioned_only_by_those_who_may(
    owner: Speaker, member: Speaker, crowd: list[Speaker]
) -> None:
    channel = channel_with(owner, [member, *crowd])
    for one in crowd[:15]:
        one.post("messages", **fields_of(channel, "Here"))
    assert member.post("messages", **fields_of(channel, "@**topic**"))["id"]  # 15 took part
    reply = member.request("POST", "messages", **fields_of(channel, "@**topic**"))
    check_error(reply, "TOPIC_WILDCARD_MENTION_NOT_ALLOWED")
    assert member.post("messages", **fields_of(channel, "@**topic**", topic="another"))["id"]
    sent = owner.post("messages", **fields_of(channel, "@**topic**"))["id"]
    assert "topic_wildcard_mentioned" in member.message(sent)["flags"]


@pytest.mark.holds("send-message.stream-wildcard", "send-message.topic-wildcard")
def test_in_a_direct_message_anybody_may_mention_all(member: Speaker, crowd: list[Speaker]) -> None:
    assert member.send([one.id for one in crowd], content="@**all** @**topic**")


# A topic is required, or there is only the empty one


@pytest.mark.holds("send-message.topic-mandatory")
@pytest.mark.parametrize("named", ["", "(no topic)", "display name", "  "])
def test_the_empty_topic_in_all_its_names_is_refused_where_a_topic_is_required(
    owner: Speaker, member: Speaker, named: str
) -> None:
    channel = make(owner, topics_policy="disable_empty_topic")
    join(member, channel["name"])
    topic = (
        member.register(fetch_event_types=["realm"]).state["realm_empty_topic_display_name"]
        if "name" in named
        else named
    )
    check_error(member.request("POST", "messages", **fields_of(channel, "x", topic=topic)))
    assert member.post("messages", **fields_of(channel, "x"))["id"]
    inheriting = make(owner)
    check_success(owner.request("PATCH", "realm", topics_policy="disable_empty_topic"))
    try:
        check_error(owner.request("POST", "messages", **fields_of(inheriting, "x", topic=topic)))
    finally:
        check_success(owner.request("PATCH", "realm", topics_policy="allow_empty_topic"))
    assert owner.post("messages", **fields_of(inheriting, "x", topic=topic))["id"]


@pytest.mark.holds("channel.topics-policy")
def test_a_named_topic_is_refused_where_there_is_only_the_empty_one(owner: Speaker) -> None:
    channel = make(owner, topics_policy="empty_topic_only")
    check_error(owner.request("POST", "messages", **fields_of(channel, "x")))
    for topic in ("", "(no topic)"):
        sent = owner.post("messages", **fields_of(channel, "x", topic=topic))["id"]
        assert owner.message(sent, allow_empty_topic_name=True)["subject"] == ""


# Who may not


@pytest.mark.holds("send-message.rights")
def test_a_channel_that_takes_no_messages_from_the_sender_refuses_them(owner: Speaker, member: Speaker) -> None:
    nobody = {"direct_members": [owner.id], "direct_subgroups": []}
    channel = make(owner, can_send_message_group=nobody)
    join(member, channel["name"])
    check_error(member.request("POST", "messages", **fields_of(channel, "x")))
    assert owner.post("messages", **fields_of(channel, "x"))["id"]


@pytest.mark.holds("send-message.rights")
def test_who_may_not_start_topics_answers_in_those_that_are_there(owner: Speaker, member: Speaker) -> None:
    channel = make(owner, can_create_topic_group={"direct_members": [owner.id], "direct_subgroups": []})
    join(member, channel["name"])
    check_error(member.request("POST", "messages", **fields_of(channel, "x")))
    owner.post("messages", **fields_of(channel, "x"))
    assert member.post("messages", **fields_of(channel, "x"))["id"]


@pytest.mark.holds("send-message.rights")
def test_an_archived_channel_refuses_messages(owner: Speaker) -> None:
    channel = make(owner)
    owner.delete(f"streams/{channel['stream_id']}")
    check_error(owner.request("POST", "messages", **fields_of(channel, "x")))


@pytest.mark.holds("send-message.deactivated")
def test_a_deactivated_recipient_refuses_the_message(owner: Speaker, newcomer: Speaker) -> None:
    owner.send([newcomer.id])
    owner.delete(f"users/{newcomer.id}")
    check_error(owner.request("POST", "messages", type="direct", to=[newcomer.id], content="x"))


# The sender's policy for the topic


@pytest.mark.holds("send-message.answer-policy", "states.send-policy", "events.user-topic")
def test_the_answer_carries_the_policy_that_sending_changed_and_an_event_tells_it(
    newcomer: Speaker, channel: Channel
) -> None:
    join(newcomer, channel.name)
    topic = unique("mine")
    with newcomer.register(event_types=["message", "user_topic"]) as queue:
        fields = {"type": "channel", "to": channel.stream_id, "topic": topic, "content": "x"}
        assert newcomer.post("messages", **fields)["automatic_new_visibility_policy"] == 3
        assert "automatic_new_visibility_policy" not in newcomer.post("messages", **fields)
        [event] = [event for event in queue.so_far() if event["type"] == "user_topic"]
    assert (event["stream_id"], event["topic_name"], event["visibility_policy"]) == (channel.stream_id, topic, 3)
    assert policies(newcomer)[channel.stream_id, topic] == 3


@pytest.mark.holds("send-message.answer-policy")
def test_a_direct_message_changes_no_policy(newcomer: Speaker) -> None:
    fields = {"type": "direct", "to": [newcomer.id], "content": "x", "topic": "ignored"}
    assert newcomer.post("messages", **fields).keys() == {"result", "msg", "id"}


@pytest.mark.holds("states.send-policy", "send-message.answer-policy")
def test_a_followed_topic_stays_followed_and_a_muted_channels_topic_is_unmuted(
    newcomer: Speaker, other: Speaker, channel: Channel
) -> None:
    join(newcomer, channel.name)
    theirs, followed = unique("theirs"), unique("followed")
    for topic in (theirs, followed):
        other.send(channel.stream_id, topic)
    decide(newcomer, channel.stream_id, followed, 3)
    data = [{"stream_id": channel.stream_id, "property": "is_muted", "value": True}]
    newcomer.post("users/me/subscriptions/properties", subscription_data=data)
    fields = {"type": "channel", "to": json.dumps(channel.name), "content": "x"}
    assert "automatic_new_visibility_policy" not in newcomer.post("messages", topic=followed, **fields)
    assert newcomer.post("messages", topic=theirs, **fields)["automatic_new_visibility_policy"] == 2
    check_success(newcomer.request("PATCH", "settings", automatically_unmute_topics_in_muted_streams_policy=4))
    third = unique("third")
    other.send(channel.stream_id, third)
    assert "automatic_new_visibility_policy" not in newcomer.post("messages", topic=third, **fields)
