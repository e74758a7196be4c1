"""Event queues beyond one process: take-over, deletion elsewhere, heartbeats, idle ends, and listeners far behind."""

import shutil
import time
from pathlib import Path

import httpx
import msgspec
import pytest

from tertulia.conversations.channels.state import NEWEST_PIECES, memberships
from tertulia.engines import Nats, find_nats_server
from tertulia.events.log.ranges import SeqSet
from tertulia.events.log.record import Audience, record
from tertulia.events.queues.queue import MAX_PENDING
from tertulia.kernel.db import Transaction
from tertulia.kernel.settings import load_settings
from tests.features.conftest import HEARTBEAT_SECONDS
from tests.harness.server import OwnServer, Server
from tests.harness.stage import Stage, Web, later
from tests.harness.talk import Queue, Speaker, check_error, check_success, eventually, message_ids


class Pair(msgspec.Struct, frozen=True):
    """One user at two processes."""

    here: Speaker
    there: Speaker


@pytest.fixture
def pair(stage: Stage, second: Web) -> Pair:
    user = stage.user()
    return Pair(stage.speaker(user), stage.speaker(user, url=second.url))


def check_ended(reply: httpx.Response) -> None:
    """A waiting poll was sent away: to ask again, which tells what has become of the queue."""
    assert [event["type"] for event in check_success(reply)["events"]] == ["heartbeat"]


# Heartbeats


@pytest.mark.timed
def test_an_idle_poll_ends_with_a_heartbeat_alone(pair: Pair) -> None:
    with pair.there.register() as queue:
        started = time.monotonic()
        [beat] = queue.poll()
        assert beat["type"] == "heartbeat"
        assert set(beat) == {"type", "id"}
        assert HEARTBEAT_SECONDS * 0.9 < time.monotonic() - started < HEARTBEAT_SECONDS + 2


@pytest.mark.parametrize("types", [["message"], []])
def test_a_heartbeat_comes_whatever_types_were_asked_for(pair: Pair, types: list[str]) -> None:
    with pair.there.register(event_types=types) as queue:
        assert [event["type"] for event in queue.poll()] == ["heartbeat"]


def test_a_heartbeat_is_not_below_what_came_before_and_hides_nothing(pair: Pair) -> None:
    with pair.there.register() as queue:
        first = pair.there.send([pair.there.id])
        [event] = queue.until_message(first)
        [beat] = queue.poll()
        assert beat["type"] == "heartbeat"
        assert beat["id"] >= event["id"]
        next_one = pair.there.send([pair.there.id])
        assert message_ids(queue.until_message(next_one)) == [next_one]


def test_an_unacknowledged_heartbeat_does_no_harm(pair: Pair) -> None:
    with pair.there.register() as queue:
        start = queue.last
        queue.poll()
        sent = pair.there.send([pair.there.id])
        events = check_success(queue.request(last_event_id=start))["events"]
        assert message_ids(events) == [sent]


# Moving


def test_a_queue_is_served_by_another_process_after_the_first_was_killed(stage: Stage, passing_web: Web) -> None:
    user = stage.user()
    doomed, here = stage.speaker(user, url=passing_web.url), stage.speaker(user)
    channel = stage.channel(here)
    queue = doomed.register(apply_markdown=True)
    before = [here.send(channel.stream_id, "topic") for _ in range(3)]
    queue.until_message(before[1])
    last = queue.last
    unread = here.send(channel.stream_id, "topic", "unacknowledged")
    passing_web.kill()
    while_dead = here.send(channel.stream_id, "topic")
    heard = queue.until_message(while_dead, here)
    fresh = [event for event in heard if event["id"] > last]
    assert message_ids(fresh)[-2:] == [unread, while_dead]
    assert len(set(message_ids(heard))) == len(message_ids(heard))
    assert all(event["message"]["content_type"] == "text/html" for event in heard)
    assert queue.poll(here, dont_block=True) == []
    check_success(here.request("DELETE", "events", queue_id=queue.id))


def test_a_queue_that_goes_to_and_fro_delivers_each_event_once_in_order(pair: Pair) -> None:
    with pair.here.register() as queue:
        sent: list[int] = []
        heard: list[int] = []
        for turn in range(12):
            sent.append(pair.here.send([pair.here.id], content=f"turn {turn}"))
            speaker = (pair.here, pair.there)[turn % 2]
            heard += message_ids(queue.until_message(sent[-1], speaker))
        assert heard == sent


def test_of_a_history_of_very_many_pieces_the_newest_are_read_and_what_comes_is_heard(stage: Stage, pair: Pair) -> None:
    writer = stage.speaker(stage.user())
    channel = stage.channel(writer, pair.here)
    # As whoever marks every other message unread that was sent before they came.
    pieces = "select range_agg(int8range(2 * n, 2 * n + 1)) from generate_series(1, 20000) as n"
    stage.sql("update conversation set last_seq = 50000 where id = %s", channel.stream_id)
    sql = f"""
    update read_state set history = ({pieces}) + int8multirange(int8range(50001, null))
    where conversation_id = %s and user_id = %s
    """
    stage.sql(sql, channel.stream_id, pair.here.id)

    async def read(tx: Transaction) -> SeqSet:
        return (await memberships(tx, [pair.here.id]))[pair.here.id][channel.stream_id]

    theirs = stage.write(read)
    assert theirs.is_open
    assert 40_000 in theirs
    assert sum(number in theirs for number in range(50_001)) == NEWEST_PIECES - 1, "beside the one that is open"
    with pair.here.register() as queue:
        for speaker in (pair.here, pair.there, pair.here):
            sent = writer.send(channel.stream_id, "topic")
            assert message_ids(queue.until_message(sent, speaker)) == [sent]


@pytest.mark.timed
def test_a_poll_elsewhere_ends_the_one_that_waits_here(pair: Pair) -> None:
    with pair.here.register() as queue:
        waiting = queue.later()
        time.sleep(0.2)
        queue.poll(pair.there)
        check_ended(waiting.result(10))
        sent = pair.here.send([pair.here.id])
        assert message_ids(queue.until_message(sent, pair.here)) == [sent]


def test_a_queue_that_moved_hears_what_its_user_may_hear_now(stage: Stage, pair: Pair) -> None:
    writer = stage.speaker()
    channel = stage.channel(writer, pair.here, invite_only=True)
    with pair.here.register() as queue:
        inside = writer.send(channel.stream_id, "topic")
        stage.remove(channel, pair.here)
        writer.send(channel.stream_id, "topic")
        stage.add(channel, pair.here)
        again = writer.send(channel.stream_id, "topic")
        assert message_ids(queue.so_far(pair.there)) == [inside, again]


@pytest.mark.slow
def test_a_process_whose_nats_server_was_left_behind_does_not_know_what_was_issued(
    stage: Stage, server: Server, folder: Path
) -> None:
    """As when the leader is cut off from the other servers, and answers for a while as if it were the leader still."""
    if not isinstance(server, OwnServer):
        pytest.skip("copies the files of its NATS server")
    user = stage.user()
    here = stage.speaker(user)
    with here.register() as queue:
        queue.until_message(here.send([here.id]))
        shutil.copytree(server.folder / "data" / "nats" / "store", folder / "behind" / "store")
        queue.until_message(here.send([here.id]))
        with Nats(find_nats_server(load_settings()), folder / "behind") as behind:
            web = Web(server, folder, nats_url=behind.url)
            try:
                reply = queue.request(stage.speaker(user, url=web.wait().url))
            finally:
                web.kill()
        assert reply.status_code == 503, reply.text
        sent = here.send([here.id])
        assert message_ids(queue.until_message(sent)) == [sent]


@pytest.mark.timed
def test_a_queue_is_deleted_from_any_process(pair: Pair) -> None:
    queue = pair.here.register()
    waiting = queue.later()
    time.sleep(0.2)
    check_success(pair.there.request("DELETE", "events", queue_id=queue.id))
    check_ended(waiting.result(10))
    for speaker in (pair.here, pair.there):
        check_error(queue.request(speaker), "BAD_EVENT_QUEUE_ID", queue_id=queue.id)


def test_somebody_elses_queue_is_unknown_at_another_process_too(stage: Stage, pair: Pair, second: Web) -> None:
    thief = stage.speaker(url=second.url)
    with pair.here.register() as queue:
        check_error(queue.request(thief), "BAD_EVENT_QUEUE_ID", queue_id=queue.id)
        check_error(thief.request("DELETE", "events", queue_id=queue.id), "BAD_EVENT_QUEUE_ID", queue_id=queue.id)
        sent = pair.here.send([pair.here.id])
        assert message_ids(queue.until_message(sent)) == [sent]


def test_the_local_id_reaches_its_queue_at_another_process(pair: Pair) -> None:
    with pair.here.register() as queue:
        sent = pair.there.send([pair.here.id], queue_id=queue.id, local_id="7")
        assert queue.message_event(sent)["local_id"] == "7"


def test_a_number_never_issued_is_refused_at_another_process_too(pair: Pair) -> None:
    with pair.here.register() as queue:
        check_error(queue.request(pair.there, last_event_id=2**52))
        sent = pair.here.send([pair.here.id])
        assert message_ids(queue.until_message(sent)) == [sent]


# Idle, stopping, far behind


@pytest.mark.timed
def test_a_stopping_process_ends_its_polls_and_the_queue_lives_on(stage: Stage, passing_web: Web) -> None:
    user = stage.user()
    there, here = stage.speaker(user, url=passing_web.url), stage.speaker(user)
    queue = there.register()
    waiting = queue.later()
    time.sleep(0.3)
    started = time.monotonic()
    passing_web.stop()
    assert time.monotonic() - started < 8
    assert [event["type"] for event in check_success(waiting.result(10))["events"]] == ["heartbeat"]
    sent = here.send([here.id])
    assert message_ids(queue.until_message(sent, here)) == [sent]


def test_a_listener_far_behind_gets_everything_in_order(stage: Stage, server: Server) -> None:
    speaker = stage.speaker()
    total = MAX_PENDING + 1500
    realm_id = stage.realm_id

    async def flood(tx: Transaction) -> None:
        for number in range(total):
            tx.emit(realm_id, record(Audience(users=(speaker.id,)), "alert_words", {"alert_words": [str(number)]}))

    with Queue(speaker, event_types=["alert_words", "message"], fetch_event_types=[]) as queue:
        stage.write(flood)
        mark = speaker.send([speaker.id])
        heard = queue.until_message(mark)
        assert [event["alert_words"] for event in heard[:-1]] == [[str(number)] for number in range(total)]
        assert queue.poll(dont_block=True) == []


def test_a_poll_brings_at_most_a_thousand_events_and_the_next_the_rest(stage: Stage) -> None:
    speaker = stage.speaker()
    realm_id = stage.realm_id

    async def flood(tx: Transaction) -> None:
        for number in range(1200):
            tx.emit(realm_id, record(Audience(users=(speaker.id,)), "alert_words", {"alert_words": [str(number)]}))

    with Queue(speaker, event_types=["alert_words", "message"], fetch_event_types=[]) as queue:
        stage.write(flood)
        mark = speaker.send([speaker.id])
        with speaker.register() as witness:
            witness.so_far()
        first = queue.poll()
        assert len(first) == 1000
        assert len(queue.until_message(mark)) == 201


@pytest.mark.holds("register.idle-timeout")
@pytest.mark.slow
@pytest.mark.timed
def test_a_queue_nobody_polls_ends(stage: Stage, server: Server, folder: Path) -> None:
    web = Web(server, folder, default_idle_queue_seconds=1)
    try:
        user = stage.user()
        speaker = stage.speaker(user, url=web.wait().url)
        queue = speaker.register(idle_queue_timeout=1)
        polled = speaker.register(idle_queue_timeout=3)
        waiting = later(polled.request)
        eventually(lambda: "tertulia_event_queues 1.0" in speaker.http.get(f"{web.metrics}/metrics").text, 15)
        assert queue.id != polled.id
        sent = speaker.send([speaker.id])
        assert message_ids(check_success(waiting.result(10))["events"]) == [sent]
    finally:
        web.kill()


def test_what_a_queue_would_keep_has_a_bound_of_its_own(pair: Pair) -> None:
    """Each name and each operand is within its own."""
    names, narrow = [f"{number:05}{'x' * 95}" for number in range(400)], [["topic", "x" * 900]] * 40
    for asked in ({"event_types": names}, {"narrow": narrow}, {"event_types": names[:200], "narrow": narrow[:20]}):
        check_error(pair.here.request("POST", "register", **asked))
    with pair.here.register(event_types=[*names[:200], "message"], narrow=[["topic", "x" * 900]]) as queue:
        assert queue.id


@pytest.mark.timed
def test_much_that_a_client_leaves_where_it_is_is_read_from_the_log_when_it_comes_back(
    stage: Stage, server: Server, folder: Path
) -> None:
    web = Web(server, folder, default_idle_queue_seconds=1)  # so often queues are looked after
    try:
        speaker = stage.speaker(stage.user(), url=web.wait().url)
        left, polled = (speaker.register(idle_queue_timeout=60, event_types=["message"]) for _ in range(2))
        sent: list[int] = []
        for _ in range(10):
            sent.append(speaker.send([speaker.id], content="&" * 9000))
            assert message_ids(polled.until_message(sent[-1])) == sent[-1:]
        time.sleep(3.5)
        assert message_ids(left.until_message(sent[-1])) == sent
        after = speaker.send([speaker.id])
        for queue in (left, polled):
            assert message_ids(queue.until_message(after)) == [after]
        metrics = speaker.http.get(f"{web.metrics}/metrics").text
        assert [line for line in metrics.splitlines() if line.startswith("tertulia_queue_takeovers_total")] == [
            "tertulia_queue_takeovers_total 1.0"
        ]
    finally:
        web.kill()
