"""A message as sending creates it (protocol/records.md#message)."""

import pytest

from tests.contract.subscribing import make
from tests.harness.server import Channel
from tests.harness.talk import Speaker, unique


@pytest.mark.holds("message.id", "send-message.answer")
def test_the_id_is_an_integer_given_when_it_is_sent_and_never_twice(member: Speaker, channel: Channel) -> None:
    ids = [member.send(channel.stream_id, "ids") for _ in range(5)] + [member.send([member.id]) for _ in range(5)]
    assert len(set(ids)) == len(ids)
    assert all(member.message(sent)["id"] == sent for sent in ids)


@pytest.mark.holds("message.type")
@pytest.mark.parametrize(
    ("kind", "shown"), [("channel", "stream"), ("stream", "stream"), ("direct", "private"), ("private", "private")]
)
def test_equivalent_types_make_the_same_message(member: Speaker, channel: Channel, kind: str, shown: str) -> None:
    to: object = channel.stream_id if shown == "stream" else [member.id]
    sent = member.post("messages", type=kind, to=to, topic="types", content="x")["id"]
    assert member.message(sent)["type"] == shown


@pytest.mark.holds("message.topic")
def test_the_topic_belongs_to_channel_messages(member: Speaker, channel: Channel) -> None:
    topic = unique("topic")
    assert member.message(member.send(channel.stream_id, topic))["subject"] == topic
    assert member.message(member.send([member.id]))["subject"] == ""


@pytest.mark.holds("message.content")
def test_the_body_is_kept_as_it_was_written(member: Speaker) -> None:
    content = "*One*\n\n* two\n  * three `four` <five> &amp; \\six ☕"
    assert member.message(member.send([member.id], content=content), apply_markdown=False)["content"] == content


@pytest.mark.holds("message.same-everywhere")
def test_a_message_by_event_is_the_message_that_is_fetched(member: Speaker, other: Speaker) -> None:
    channel = make(other, principals=[member.id, other.id])  # everybody may be mentioned: few are in it
    for markdown in (True, False):
        with other.register(apply_markdown=markdown) as queue:
            for to, topic in ((channel["stream_id"], unique("same")), ([other.id], None)):
                sent = member.send(to, topic, "**Hello** https://a.example @**all**")
                event = queue.message_event(sent)
                fetched = other.message(sent, apply_markdown=markdown)
                assert fetched.pop("flags") == event["flags"]
                assert fetched == event["message"]
