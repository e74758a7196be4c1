"""Much that is due at one moment: whoever asked for it does not keep others waiting, nor a channel closed."""

import time

from tests.harness.stage import Stage
from tests.harness.talk import eventually

DEAR = "_1-E" * 250
"""PostgreSQL takes some hundredths of a second to find its words: a hundred of them are seconds."""


def test_scheduled_messages_of_one_person_are_stored_few_at_a_time_and_others_are_not_behind_them(stage: Stage) -> None:
    busy, other = stage.speaker(), stage.speaker()
    channel = stage.channel(busy, other)
    there = {"type": "channel", "to": channel.stream_id, "topic": "topic"}
    due = int(time.time()) + 4
    for number in range(20):
        busy.post("scheduled_messages", **there, content=f"{DEAR} {number}", scheduled_delivery_timestamp=due)
    other.post("scheduled_messages", **there, content="the one", scheduled_delivery_timestamp=due)
    sent = "select content, xmin::text from message where conversation_id = %s order by id"
    eventually(lambda: len(stage.sql(sent, channel.stream_id)) == 21)
    messages = stage.sql(sent, channel.stream_id)
    transactions = [xid for content, xid in messages if content != "the one"]
    assert max(map(transactions.count, transactions)) <= 6
    assert [content for content, _ in messages].index("the one") <= 6
    assert [content for content, _ in messages if content != "the one"] == [f"{DEAR} {number}" for number in range(20)]


def test_a_reminder_quotes_only_the_beginning_of_what_takes_long_to_index(stage: Stage) -> None:
    sender = stage.speaker()
    channel = stage.channel(sender)
    due = int(time.time()) + 3600
    for content, is_cut in ((DEAR, True), ("some words " * 90, False)):
        sent = sender.send(channel.stream_id, "topic", content)
        sender.post("reminders", message_id=sent, scheduled_delivery_timestamp=due)
        [quoted] = [one for one in sender.get("reminders")["reminders"] if one["reminder_target_message_id"] == sent]
        assert ("…" in quoted["content"]) is is_cut
        assert (len(quoted["content"]) < 500) is is_cut
