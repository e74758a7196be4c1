"""`unread_msgs`: mentions, mutes, muted users, and more unread messages than are listed."""

import random

import pytest

from tertulia.conversations.read_state import queries
from tertulia.conversations.read_state.model import Unread
from tertulia.kernel.db import Reader, Transaction
from tertulia.messaging.sending.rules import MAX_RECIPIENTS
from tests.contract.policies import decide
from tests.harness.server import Channel
from tests.harness.stage import Stage
from tests.harness.talk import Json, Speaker


@pytest.fixture
def reader(stage: Stage) -> Speaker:
    return stage.speaker()


@pytest.fixture
def writer(stage: Stage) -> Speaker:
    return stage.speaker()


@pytest.fixture
def channel(stage: Stage, reader: Speaker, writer: Speaker) -> Channel:
    return stage.channel(reader, writer)


def mention(stage: Stage, message_id: int, speaker: Speaker) -> None:
    """As sending does it."""
    stage.sql("delete from message_mark where user_id = %s and message_id = %s", speaker.id, message_id)
    stage.sql("insert into message_mark (user_id, flag, message_id) values (%s, 3, %s)", speaker.id, message_id)


def mention_group(stage: Stage, message_id: int, group_id: int) -> None:
    sql = "insert into message_group_mention (message_id, group_id) values (%s, %s) on conflict do nothing"
    stage.sql(sql, message_id, group_id)


def call(stage: Stage, message_id: int, wildcard: int) -> None:
    stage.sql("update message set wildcard = %s where id = %s", wildcard, message_id)


def make_group(maker: Speaker, *people: Speaker) -> int:
    ids = [speaker.id for speaker in people]
    fields: Json = {"name": f"group {random.random()}", "description": "", "members": ids}
    found: int = maker.post("user_groups/create", **fields)["group_id"]
    return found


def mark(speaker: Speaker, ids: list[int], op: str = "add") -> Json:
    return speaker.post("messages/flags", messages=ids, op=op, flag="read")


def test_unread_mentions_are_listed(stage: Stage, reader: Speaker, writer: Speaker, channel: Channel) -> None:
    plain, personal, grouped, foreign, called, direct = (
        *(writer.send(channel.stream_id, "topic") for _ in range(5)),
        writer.send([reader.id]),
    )
    mention(stage, personal, reader)
    mention(stage, plain, writer)
    mention(stage, direct, reader)
    mention_group(stage, grouped, make_group(writer, reader))
    mention_group(stage, foreign, make_group(writer, writer))
    call(stage, called, 1)
    assert reader.unread()["mentions"] == sorted([personal, grouped, called, direct])
    mark(reader, [personal])
    assert reader.unread()["mentions"] == sorted([grouped, called, direct])


def test_a_topic_is_called_for_those_who_take_part(stage: Stage, reader: Speaker, writer: Speaker) -> None:
    third = stage.speaker()
    channel = stage.channel(reader, writer, third)
    reader.send(channel.stream_id, "topic", read_by_sender=True)
    topic = stage.sql("select id from topic where conversation_id = %s", channel.stream_id)[0][0]
    sql = "insert into topic_participant (topic_id, user_id) values (%s, %s) on conflict do nothing"
    stage.sql(sql, topic, reader.id)
    sent = writer.send(channel.stream_id, "topic")
    call(stage, sent, 2)
    assert (reader.unread()["mentions"], third.unread()["mentions"]) == ([sent], [])


def test_wildcards_do_not_reach_into_what_is_muted(
    stage: Stage, reader: Speaker, writer: Speaker, channel: Channel
) -> None:
    called, named = writer.send(channel.stream_id, "muted"), writer.send(channel.stream_id, "muted")
    call(stage, called, 1)
    mention(stage, named, reader)
    decide(reader, channel.stream_id, "muted", 1)
    unread = reader.unread()
    assert (unread["mentions"], unread["count"]) == ([named], 0)


def test_the_event_of_marking_unread_tells_of_mentions(
    stage: Stage, reader: Speaker, writer: Speaker, channel: Channel
) -> None:
    ids = [writer.send(channel.stream_id, "topic") for _ in range(4)]
    mention(stage, ids[0], reader)
    mention_group(stage, ids[1], make_group(writer, reader))
    call(stage, ids[2], 1)
    mark(reader, ids)
    with reader.register(event_types=["update_message_flags"]) as queue:
        mark(reader, ids, "remove")
        [event] = queue.poll()
    assert [event["message_details"][str(id)].get("mentioned") for id in ids] == [True, True, True, None]


def test_muting_somebody_marks_read_what_they_sent_and_what_they_will_send(
    stage: Stage, reader: Speaker, writer: Speaker, channel: Channel
) -> None:
    other = stage.speaker()
    stage.add(channel, other)
    kept = other.send(channel.stream_id, "topic")
    ids = [writer.send(channel.stream_id, "topic"), writer.send([reader.id])]
    with reader.register(event_types=["update_message_flags", "muted_users"]) as queue:
        reader.post(f"users/me/muted_users/{writer.id}")
        events = {event["type"]: event for event in queue.poll() + queue.poll(dont_block=True)}
    assert events["update_message_flags"]["messages"] == ids
    assert events["update_message_flags"]["op"] == "add"
    later = writer.send(channel.stream_id, "topic")
    assert _listed(reader) == [kept]
    assert reader.unread()["count"] == 1
    with reader.register(event_types=["update_message_flags", "message"]) as queue:
        mark(reader, [later])
        mark(reader, [later], "remove")
        assert queue.so_far() == []
    reader.request("DELETE", f"users/me/muted_users/{writer.id}")
    assert later not in _listed(reader)
    mark(reader, [later], "remove")
    assert later in _listed(reader)


def test_marking_a_channel_read_does_not_tell_of_muted_people(
    stage: Stage, reader: Speaker, writer: Speaker, channel: Channel
) -> None:
    other = stage.speaker()
    stage.add(channel, other)
    reader.post(f"users/me/muted_users/{writer.id}")
    sent = [who.send(channel.stream_id, "topic") for who in (writer, other, writer, other)]
    with reader.register(event_types=["update_message_flags"]) as queue:
        reader.post("mark_topic_as_read", stream_id=channel.stream_id, topic_name="topic")
        [event] = queue.poll()
    assert event["messages"] == sent[1::2]


def test_of_too_many_unread_messages_the_newest_are_listed(stage: Stage, reader: Speaker, writer: Speaker) -> None:
    source = random.Random(5)
    channels = [stage.channel(reader, writer) for _ in range(4)]
    sent = [writer.send(source.choice(channels[: 1 + turn // 10]).stream_id, "topic") for turn in range(40)]
    read = source.sample(sent, 12)
    mark(reader, read)
    unread = sorted(set(sent) - set(read))

    async def newest(tx: Transaction) -> dict[int, list[Unread]]:
        snapshot: Reader = tx
        return {
            limit: await queries.unread_messages(snapshot, reader.id, limit) for limit in (1, 5, 13, 27, 28, 29, 100)
        }

    for limit, places in stage.write(newest).items():
        assert sorted(id for place in places for id in place.ids) == unread[-limit:]


def test_of_conversations_that_have_very_many_people_together_the_newest_are_listed(
    stage: Stage, reader: Speaker, writer: Speaker, channel: Channel
) -> None:
    """Anybody can write to many, in other company each time. All of them got all these names, whenever they came."""
    first = writer.send(channel.stream_id, "topic")
    assert not reader.unread()["old_unreads_missing"]
    crowds = queries.MAX_PEOPLE_LISTED // MAX_RECIPIENTS + 10
    [(realm_id,)] = stage.sql("select realm_id from account where id = %s", reader.id)
    stage.sql(WRITTEN_TO, realm_id, reader.id, MAX_RECIPIENTS - 1, crowds, realm_id, writer.id, reader.id)
    unread = reader.unread()
    assert len(unread["huddles"]) == crowds - 10
    assert [place["unread_message_ids"] for place in unread["streams"]] == [[first]]
    assert unread["old_unreads_missing"]
    newest = max(id for crowd in unread["huddles"] for id in crowd["unread_message_ids"])
    assert newest - first >= crowds
    recent = reader.post("register", fetch_event_types=["recent_private_conversations"], event_types=[])
    listed = [one["max_message_id"] for one in recent["recent_private_conversations"]]
    assert (len(listed), listed[0]) == (crowds - 10, newest)
    writer.send([reader.id])
    assert len(reader.unread()["pms"]) == 1


WRITTEN_TO = """
with made as (
    insert into conversation (realm_id, last_seq, participants)
    select %s, 1, %s || array(select 1000000 * crowd + number from generate_series(1, %s) as number)
    from generate_series(1, %s) as crowd returning id
), written as (
    insert into message (realm_id, conversation_id, seq, sender_id, sent_at, client, content, rendered)
    select %s, id, 1, %s, now(), '', 'x', '<p>x</p>' from made
)
insert into read_state (conversation_id, user_id, read, history) select id, %s, '{}', '{[1,)}' from made returning 1
"""
"""As somebody writes to many, each time in other company."""


def _listed(speaker: Speaker) -> list[int]:
    unread = speaker.unread()
    lists = [entry["unread_message_ids"] for kind in ("pms", "huddles", "streams") for entry in unread[kind]]
    return sorted(id for ids in lists for id in ids)
