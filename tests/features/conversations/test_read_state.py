"""Read state as ranges: what is stored, and what the counts say."""

import random
import time
from contextlib import suppress
from functools import partial

import pytest

from tertulia.conversations.read_state.marks import Mark
from tertulia.conversations.read_state.queries import starred_messages
from tertulia.kernel.auth import Role
from tertulia.kernel.db import Transaction
from tertulia.messaging.flags.actions import PORTION
from tests.harness.server import Channel
from tests.harness.stage import Stage, Web, at_once, later
from tests.harness.talk import Json, Queue, Speaker, check_error, eventually


def mark(speaker: Speaker, ids: list[int], op: str = "add") -> Json:
    return speaker.post("messages/flags", messages=ids, op=op, flag="read")


def stored(stage: Stage, speaker: Speaker, conversation: int) -> str:
    statement = "select read::text from read_state where user_id = %s and conversation_id = %s"
    [(found,)] = stage.sql(statement, speaker.id, conversation)
    return str(found)


def unread_ids(speaker: Speaker) -> list[int]:
    unread = speaker.unread()
    lists = [entry["unread_message_ids"] for kind in ("pms", "huddles", "streams") for entry in unread[kind]]
    assert unread["count"] == sum(map(len, lists))
    return sorted(id for ids in lists for id in ids)


@pytest.fixture
def reader(stage: Stage) -> Speaker:
    return stage.speaker()


@pytest.fixture
def writer(stage: Stage) -> Speaker:
    return stage.speaker()


def test_ranges_grow_together_and_fall_apart(stage: Stage, reader: Speaker, writer: Speaker) -> None:
    channel = stage.channel(reader, writer)
    ids = [writer.send(channel.stream_id, "topic") for _ in range(10)]
    assert stored(stage, reader, channel.stream_id) == "{}"
    mark(reader, [ids[1], ids[2], ids[5]])
    assert stored(stage, reader, channel.stream_id) == "{[2,4),[6,7)}"
    mark(reader, ids[3:5])
    assert stored(stage, reader, channel.stream_id) == "{[2,7)}"
    mark(reader, [ids[3]], "remove")
    assert stored(stage, reader, channel.stream_id) == "{[2,4),[5,7)}"
    mark(reader, ids)
    assert stored(stage, reader, channel.stream_id) == "{[1,11)}"
    assert unread_ids(reader) == []


def test_any_marks_in_any_order_give_what_a_set_would(stage: Stage, reader: Speaker, writer: Speaker) -> None:
    channels = [stage.channel(reader, writer) for _ in range(3)]
    source = random.Random(7)
    ids = [writer.send(source.choice(channels).stream_id, f"topic {number % 4}") for number in range(30)]
    expected = set(ids)
    for _ in range(25):
        chosen = source.sample(ids, source.randint(1, 12))
        op = source.choice(["add", "add", "remove"])
        mark(reader, chosen, op)
        expected = expected - set(chosen) if op == "add" else expected | set(chosen)
    assert unread_ids(reader) == sorted(expected)
    window = reader.window(before=30)["messages"]
    assert {message["id"] for message in window if "read" not in message["flags"]} == expected


def test_marks_at_the_same_time_lose_nothing(stage: Stage, second: Web) -> None:
    user, writer = stage.user(), stage.speaker()
    here, there = stage.speaker(user), stage.speaker(user, url=second.url)
    channels = [stage.channel(here, writer) for _ in range(2)]
    ids = [writer.send(channels[number % 2].stream_id, "topic") for number in range(24)]
    with here.register(event_types=["update_message_flags", "message"]) as queue:
        at_once([partial(mark, who, ids[turn::6]) for turn, who in enumerate([here, there] * 3)])
        changed = [id for event in queue.so_far() if event["type"] != "message" for id in event["messages"]]
    assert sorted(changed) == ids
    assert unread_ids(here) == [here.window(before=1)["messages"][0]["id"]]


def test_a_message_to_oneself_is_unread_under_ones_own_id(stage: Stage, reader: Speaker) -> None:
    sent = reader.send([reader.id], read_by_sender=False)
    [entry] = reader.unread()["pms"]
    assert entry == {"other_user_id": reader.id, "sender_id": reader.id, "unread_message_ids": [sent]}
    mark(reader, [sent])
    assert reader.unread()["count"] == 0


def test_a_group_is_unread_under_all_its_people(stage: Stage, reader: Speaker, writer: Speaker) -> None:
    third = stage.speaker()
    sent = [writer.send([reader.id, third.id]) for _ in range(2)]
    people = ",".join(map(str, sorted([reader.id, writer.id, third.id])))
    assert reader.unread()["huddles"] == [{"user_ids_string": people, "unread_message_ids": sent}]
    mark(reader, sent[:1])
    assert reader.unread()["huddles"] == [{"user_ids_string": people, "unread_message_ids": sent[1:]}]
    assert third.unread()["huddles"] == [{"user_ids_string": people, "unread_message_ids": sent}]


def test_unread_messages_of_a_muted_channel_are_listed_and_not_counted(
    stage: Stage, reader: Speaker, writer: Speaker
) -> None:
    channel = stage.channel(reader, writer)
    sent = writer.send(channel.stream_id, "topic")
    stage.sql("update subscription set is_muted = true where user_id = %s", reader.id)
    unread = reader.unread()
    assert unread["count"] == 0
    assert unread["streams"] == [{"stream_id": channel.stream_id, "topic": "topic", "unread_message_ids": [sent]}]
    mark(reader, [sent])
    with reader.register(event_types=["update_message_flags"]) as queue:
        mark(reader, [sent], "remove")
        [event] = queue.poll()
    assert event["message_details"][str(sent)]["unmuted_stream_msg"] is False


def test_what_was_sent_before_one_joined_is_not_unread(stage: Stage, reader: Speaker, writer: Speaker) -> None:
    channel = stage.channel(writer)
    before = writer.send(channel.stream_id, "topic")
    stage.add(channel, reader)
    after = writer.send(channel.stream_id, "topic")
    assert unread_ids(reader) == [after]
    flags = {message["id"]: message["flags"] for message in window_of(reader, channel)}
    assert flags == {before: ["read", "historical"], after: []}


def test_a_history_of_very_many_pieces_gets_no_more_of_them_by_marking_old_messages_unread(
    stage: Stage, reader: Speaker, writer: Speaker
) -> None:
    channel = stage.channel(writer)
    before = [writer.send(channel.stream_id, "topic") for _ in range(3)]
    stage.add(channel, reader)
    mark(reader, before[:1], "remove")
    assert unread_ids(reader) == before[:1]
    pieces = "select range_agg(int8range(2 * n, 2 * n + 1)) from generate_series(1000, 31000) as n"
    long = f"int8multirange(int8range(1, 2), int8range(100000, null)) + ({pieces})"
    sql = f"update read_state set history = {long} where user_id = %s and conversation_id = %s"
    stage.sql(sql, reader.id, channel.stream_id)
    mark(reader, before[2:], "remove")
    assert unread_ids(reader) == before[:1]
    mark(reader, before[:1])
    mark(reader, before[:1], "remove")
    assert unread_ids(reader) == before[:1], "what is theirs is marked as ever"


def test_leaving_hides_unread_messages_and_coming_back_starts_with_everything_read(
    stage: Stage, reader: Speaker, writer: Speaker
) -> None:
    channel = stage.channel(reader, writer)
    first = writer.send(channel.stream_id, "topic")
    stage.remove(channel, reader)
    missed = writer.send(channel.stream_id, "topic")
    assert unread_ids(reader) == []
    stage.add(channel, reader)
    last = writer.send(channel.stream_id, "topic")
    assert unread_ids(reader) == [last]
    flags = {message["id"]: message["flags"] for message in window_of(reader, channel)}
    assert flags == {first: ["read"], missed: ["read", "historical"], last: []}


def test_marking_messages_of_other_peoples_conversations_changes_nothing(
    stage: Stage, reader: Speaker, writer: Speaker
) -> None:
    third = stage.speaker()
    channel = stage.channel(writer, invite_only=True)
    foreign = [writer.send([third.id]), writer.send(channel.stream_id, "topic")]
    mark(reader, foreign)
    for sent in foreign:
        fields: Json = {"messages": [sent], "op": "remove", "flag": "read"}
        check_error(reader.request("POST", "messages/flags", **fields))
    assert stage.sql("select count(*) from read_state where user_id = %s", reader.id) == [(0,)]


def test_first_unread_without_a_narrow_is_the_oldest_unread_of_all(stage: Stage, reader: Speaker) -> None:
    writer, channel = stage.speaker(), None
    ids: list[int] = []
    for _ in range(3):
        channel = stage.channel(reader, writer)
        ids += [writer.send(channel.stream_id, "topic"), writer.send([reader.id])]
    mark(reader, ids[:3])
    window = reader.window("first_unread", 1, 1)
    assert (window["anchor"], [found["id"] for found in window["messages"]]) == (ids[3], ids[2:5])
    assert window["found_anchor"] is True


def test_first_unread_in_a_channel_one_is_not_in_is_the_newest(stage: Stage, reader: Speaker, writer: Speaker) -> None:
    channel = stage.channel(writer)
    sent = writer.send(channel.stream_id, "topic")
    window = reader.window("first_unread", 1, 1, narrow=[["channel", channel.name]])
    assert (window["anchor"], [found["id"] for found in window["messages"]]) == (10**16, [sent])


def test_a_guest_reads_what_they_received(stage: Stage, writer: Speaker) -> None:
    guest = stage.speaker(Role.GUEST)
    channel = stage.channel(guest, writer)
    sent = writer.send(channel.stream_id, "topic")
    assert unread_ids(guest) == [sent]
    mark(guest, [sent])
    assert unread_ids(guest) == []


def test_many_messages_are_told_of_in_several_events(stage: Stage, reader: Speaker) -> None:
    place = stage.sql("select conversation_id from message where id = %s", reader.send([reader.id]))[0][0]
    many = 2 * PORTION + 500
    with stage.session() as execute:
        columns = "realm_id, conversation_id, seq, sender_id, client, content, rendered"
        values = "%s, %s, seq, %s, 'test', 'x', '<p>x</p>' from generate_series(2, %s) as seq"
        execute(f"insert into message ({columns}) select {values}", stage.realm_id, place, reader.id, many)
        execute("update conversation set last_seq = %s where id = %s", many, place)
    ids = unread_ids(reader)
    assert len(ids) == many
    with reader.register(event_types=["update_message_flags", "message"]) as queue:
        mark(reader, ids)
        mark(reader, ids, "remove")
        events = [event for event in queue.so_far() if event["type"] != "message"]
    for op in ("add", "remove"):
        parts = [event["messages"] for event in events if event["op"] == op]
        assert [len(part) for part in parts] == [PORTION, PORTION, 500]
        assert [id for part in parts for id in part] == ids
    assert all(len(event["message_details"]) == len(event["messages"]) for event in events if event["op"] == "remove")


def window_of(speaker: Speaker, channel: Channel) -> list[Json]:
    found: list[Json] = speaker.window(before=50, narrow=[["channel", channel.name]])["messages"]
    return found


def test_what_the_log_has_before_everything_is_marked_read_is_read(
    stage: Stage, reader: Speaker, writer: Speaker
) -> None:
    """Also in a conversation that begins while everything is being marked."""
    waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%%states as mat%%'"
    channel = stage.channel(reader, writer)
    writer.send(channel.stream_id, "topic")
    with Queue(reader, event_types=["message", "update_message_flags"]) as queue:
        with stage.session() as execute:
            # Who marks has looked already, and waits here again and again.
            execute(
                "select from read_state where user_id = %s and conversation_id = %s for update",
                *(reader.id, channel.stream_id),
            )
            marking = later(reader.post, "mark_all_as_read")
            eventually(lambda: stage.sql(waiting) == [(1,)])
            sending = later(writer.send, [reader.id])
            with suppress(TimeoutError):
                sending.result(1.0)
        marking.result(30)
        sent = sending.result(30)
        types: list[str] = []
        while len(types) < 2:
            types += [event["type"] for event in queue.poll()]
    read_in_events = types.index("message") < types.index("update_message_flags")
    assert (sent in unread_ids(reader)) is not read_in_events


@pytest.mark.parametrize("what", ["leaves a channel", "mutes somebody"])
def test_marking_everything_waits_in_no_circle(stage: Stage, reader: Speaker, writer: Speaker, what: str) -> None:
    """With what the same person does at the same moment, holding the account before read states."""
    first, second = stage.channel(reader, writer), stage.channel(reader, writer)
    for channel in (first, second):
        writer.send(channel.stream_id, "topic")
    waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    with stage.session() as execute:
        # Who marks everything comes to the second channel's read state and waits there.
        execute(
            "select from read_state where user_id = %s and conversation_id = %s for update",
            *(reader.id, second.stream_id),
        )
        marking = later(reader.post, "mark_all_as_read")
        eventually(lambda: stage.sql(waiting) >= [(1,)])
        if what == "leaves a channel":
            other = later(reader.delete, "users/me/subscriptions", subscriptions=[first.name])
        else:
            other = later(reader.post, f"users/me/muted_users/{writer.id}")
        # Who marks holds nothing while waiting, so that the other act may be done before.
        eventually(lambda: other.done() or stage.sql(waiting) >= [(2,)])
    marking.result(30)
    other.result(30)
    assert unread_ids(reader) == []


def test_a_state_of_many_ranges_is_not_compressed_anew_at_each_send(
    stage: Stage, reader: Speaker, writer: Speaker
) -> None:
    """As somebody has who writes among others and reads little: compressing took most of the time of their sends."""
    channel = stage.channel(reader, writer)
    every_third = "(select range_agg(int8range(3 * n, 3 * n + 1)) from generate_series(1, 500) as n)"
    stage.sql(f"update read_state set read = {every_third} where user_id = %s", writer.id)
    stage.sql("update conversation set last_seq = 3000 where id = %s", channel.stream_id)
    writer.send(channel.stream_id, "topic", read_by_sender=True)
    statement = "select pg_column_compression(read), range_count from read_state, lateral (\
        select count(*) as range_count from unnest(read)) as ranges where user_id = %s and conversation_id = %s"
    assert stage.sql(statement, writer.id, channel.stream_id) == [(None, 501)]


def test_whoever_starred_very_many_messages_keeps_nobody_waiting(stage: Stage, reader: Speaker) -> None:
    with stage.session() as execute:
        execute("set local session_replication_role = replica")
        sql = "insert into message_mark (user_id, flag, message_id) select %s, %s, 10^9 + n from generate_series(1, 400000) as n"
        execute(sql, reader.id, int(Mark.STARRED))

    async def seconds_of(tx: Transaction) -> float:
        began = time.thread_time()
        assert len(await starred_messages(tx, reader.id)) == 400_000
        return time.thread_time() - began

    assert stage.write(seconds_of) < 0.1, "so long the event loop is nobody else's"
    state = reader.post("register", event_types=[], fetch_event_types=["starred_messages", "message"])
    assert state["starred_messages"] == list(range(10**9 + 1, 10**9 + 400_001))
    stage.sql("delete from message_mark where user_id = %s", reader.id)
