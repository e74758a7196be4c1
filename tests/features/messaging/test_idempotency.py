"""Idempotency-Key on POST /messages (protocol/messages.md#send-message): one message, whatever happens at the same time."""

import json
from functools import partial

import httpx

from tests.harness.server import Channel
from tests.harness.stage import Stage, Web, at_once
from tests.harness.talk import Speaker, check_success, message_ids, unique


def send_once(speaker: Speaker, channel: Channel, key: str, content: str = "Hello") -> httpx.Response:
    fields = {"type": "channel", "to": str(channel.stream_id), "topic": "once", "content": content}
    return speaker.http.post("messages", data=fields, headers={"Idempotency-Key": key})


def count(stage: Stage, *channels: Channel) -> int:
    ids = [channel.stream_id for channel in channels]
    return int(stage.sql("select count(*) from message where conversation_id = any(%s)", ids)[0][0])


def test_many_repeats_at_the_same_time_send_one_message(stage: Stage) -> None:
    sender = stage.speaker()
    channel, key = stage.channel(sender), unique("key")
    with sender.register() as queue:
        replies = at_once([partial(send_once, sender, channel, key)] * 20)
        assert len({check_success(reply)["id"] for reply in replies}) == 1
        assert len(message_ids(queue.so_far())) == 1
    assert count(stage, channel) == 1


def test_repeats_at_two_processes_send_one_message(stage: Stage, second: Web) -> None:
    user = stage.user()
    here, there = stage.speaker(user), stage.speaker(user, url=second.url)
    channel = stage.channel(here)
    for _ in range(5):
        key = unique("key")
        before = count(stage, channel)
        replies = at_once([partial(send_once, here, channel, key), partial(send_once, there, channel, key)] * 4)
        assert len({check_success(reply)["id"] for reply in replies}) == 1
        assert count(stage, channel) == before + 1


def test_one_key_for_two_conversations_at_the_same_time_sends_one_message(stage: Stage, second: Web) -> None:
    user = stage.user()
    here, there = stage.speaker(user), stage.speaker(user, url=second.url)
    one, two = stage.channel(here), stage.channel(here)
    for _ in range(10):
        key = unique("key")
        before = count(stage, one, two)
        replies = at_once([partial(send_once, here, one, key), partial(send_once, there, two, key)])
        assert len({check_success(reply)["id"] for reply in replies}) == 1
        assert count(stage, one, two) == before + 1


def test_a_repeat_is_answered_even_if_its_sender_could_not_send_any_more(stage: Stage) -> None:
    sender = stage.speaker()
    channel, key = stage.channel(sender, invite_only=True), unique("key")
    first = check_success(send_once(sender, channel, key))
    stage.remove(channel, sender)
    assert check_success(send_once(sender, channel, key)) == first
    assert send_once(sender, channel, unique("key")).status_code == 400


def test_a_repeat_is_answered_for_direct_messages_too(stage: Stage) -> None:
    sender, key = stage.speaker(), unique("key")
    fields = {"type": "direct", "to": json.dumps([sender.id]), "content": "x"}
    ids = {
        check_success(sender.http.post("messages", data=fields, headers={"Idempotency-Key": key}))["id"]
        for _ in range(3)
    }
    assert len(ids) == 1


def test_a_key_belongs_to_its_sender(stage: Stage) -> None:
    one, two = stage.speaker(), stage.speaker()
    channel, key = stage.channel(one, two), unique("key")
    assert check_success(send_once(one, channel, key)) != check_success(send_once(two, channel, key))
