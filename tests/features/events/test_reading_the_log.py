"""Reading a part of the log: it is whole, or the reader is told. On a real JetStream, where some answers are cut off as
replicas that are behind cut them off."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import msgspec
import nats
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from tertulia.engines import Nats, find_nats_server
from tertulia.events.log import stream as stream_module
from tertulia.events.log.jetstream import StreamUnavailable, call_api, create_stream, delete_stream
from tertulia.events.log.record import Audience, record
from tertulia.events.log.snapshot import Snapshot
from tertulia.events.log.stream import BATCH_BYTES, EventStream, Stored, event_stream_config, stream_name
from tertulia.events.queues.feed import FIRST_LOOK_BACK, Feed, QueueEnded
from tertulia.events.queues.memberships import Memberships
from tertulia.events.queues.options import QueueOptions
from tertulia.events.queues.queue import Queue
from tertulia.events.queues.queue_record import QueueRecord
from tertulia.kernel.settings import load_settings

REALM, SHARD, EPOCH = 1, 0, 1
SUBJECT = f"ev.{SHARD}.{REALM}"
BODY = msgspec.json.encode(record(Audience(realm=True), "flood", {}))
NOTHING_SEEN = Snapshot(xmin=1, xmax=1, under_way=frozenset(), lsn="F" * 16)


class Replicas(EventStream):
    """JetStream with a replica that is behind: it answers so many times, and has the events up to a number."""

    def __init__(self, nc: Client) -> None:
        super().__init__(nc, shards=1)
        self.stale_answers = 0
        self.has_until = 0
        self.batches: list[int] = []
        """How many events each answer had."""

    def fall_behind(self, *, until: int, answers: int = 3) -> None:
        self.has_until, self.stale_answers = until, answers

    async def _batch(self, name: str, request: dict[str, Any]) -> list[Msg]:
        messages = await super()._batch(name, request)
        self.batches.append(len(messages))
        if self.stale_answers == 0:
            return messages
        self.stale_answers -= 1
        return [msg for msg in messages if int((msg.headers or {})["Nats-Sequence"]) <= self.has_until]


class Unreliable(EventStream):
    """A connection that loses one message of its first answer on the way."""

    lost = 0

    async def _batch(self, name: str, request: dict[str, Any]) -> list[Msg]:
        messages = await super()._batch(name, request)
        if not self.lost and len(messages) > 10:
            self.lost = int((messages.pop(5).headers or {})["Nats-Sequence"])
        return messages


@pytest.fixture(scope="module")
def nats_server(shared_folder: Path) -> Iterator[Nats]:
    with Nats(find_nats_server(load_settings()), shared_folder / "nats") as server:
        yield server


@pytest.fixture
async def replicas(nats_server: Nats) -> AsyncIterator[Replicas]:
    nc = await nats.connect(nats_server.url)
    config = event_stream_config(SHARD, EPOCH, first_seq=1, retention=3600, replicas=1)
    await create_stream(nc, config)
    yield Replicas(nc)
    await delete_stream(nc, config["name"])
    await nc.close()


async def store(nc: Client, count: int, *, subject: str = SUBJECT, after: int = 0, body: bytes = BODY) -> None:
    for seq in range(after + 1, after + count + 1):
        headers = {"Pos": f"{seq:016X}-000000", "Epoch": str(EPOCH), "Xid": str(seq), "Xmax": str(seq)}
        await nc.publish(subject, body, headers=headers)
    await nc.flush()
    while (info := await EventStream(nc, 1).info(SHARD, EPOCH)) is None or info.last_seq < after + count:
        await asyncio.sleep(0.01)


async def forget_until(nc: Client, seq: int) -> None:
    """As the retention time does."""
    await call_api(nc, f"STREAM.PURGE.{stream_name(SHARD, EPOCH)}", {"seq": seq + 1})


def heard_live(seq: int, previous: int) -> Stored:
    return Stored(
        seq=seq, subject=SUBJECT, pos=f"{seq:016X}-000000", epoch=EPOCH, xid=seq, xmax=seq, data=BODY, previous=previous
    )


async def open_feed(stream: EventStream, buried: list[Queue] | None = None) -> Feed:
    feed = Feed(stream, REALM, EPOCH, (buried if buried is not None else []).append)
    await feed.open()
    return feed


def queue_at(after: int) -> Queue:
    options = QueueOptions()
    about = QueueRecord("q", REALM, 7, 400, EPOCH, after, NOTHING_SEEN, options, idle_seconds=600)
    return Queue(about, Memberships(NOTHING_SEEN, {}), after, filters={})


def heard_by(queue: Queue) -> list[int]:
    return [logged.seq for logged in queue.pending]


@pytest.mark.parametrize("has_until", [551, 200, 0], ids=["of the end", "of the middle", "of everything"])
async def test_a_queue_far_behind_misses_nothing_that_a_lagging_replica_does_not_have(
    replicas: Replicas, has_until: int
) -> None:
    await store(replicas.nc, 546)
    feed = await open_feed(replicas)
    await store(replicas.nc, 10, after=546)
    for seq in range(547, 557):
        feed.receive(heard_live(seq, seq - 1))
    assert feed.head == 556
    replicas.fall_behind(until=has_until)
    queue = queue_at(100)
    await feed.admit(queue, 100)
    assert heard_by(queue) == list(range(101, 557))


async def test_a_feed_that_is_opened_by_a_lagging_replica_has_no_hole(replicas: Replicas) -> None:
    await store(replicas.nc, 300)
    replicas.fall_behind(until=295)
    feed = await open_feed(replicas)
    queue = queue_at(290)
    await feed.admit(queue, 290)
    assert (feed.head, heard_by(queue)) == (300, list(range(291, 301)))


async def test_what_arrives_before_a_feed_is_open_is_taken_once(replicas: Replicas) -> None:
    """A cluster found it: whoever was taken over by a process that had just opened the realm's log heard events twice, and
    out of order."""
    await store(replicas.nc, 600)
    buried: list[Queue] = []
    feed = Feed(replicas, REALM, EPOCH, buried.append)
    feed.receive(heard_live(600, 599))  # between the subscription and the look at the end of the log
    opening = asyncio.create_task(feed.open())
    while feed.head < 600:
        await asyncio.sleep(0)
    queue = queue_at(590)
    await feed.admit(queue, 590)
    await opening
    await store(replicas.nc, 1, after=600)
    feed.receive(heard_live(601, 600))
    async with asyncio.timeout(10):
        while feed.head != 601 or 601 not in heard_by(queue):
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.3)  # whoever read the log from its beginning has come to its end
    assert heard_by(queue) == list(range(591, 602))


async def test_a_queue_is_not_admitted_while_every_replica_that_answers_is_behind(
    replicas: Replicas, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_module, "WHOLE_SECONDS", 0.5)
    await store(replicas.nc, 400)
    feed = await open_feed(replicas)
    replicas.fall_behind(until=120, answers=1000)
    with pytest.raises(StreamUnavailable, match=r"up to 120.*before 145"):
        await feed.admit(queue_at(100), 100)
    assert feed.queues == []


async def test_a_queue_ends_when_the_log_does_not_have_what_it_needs_any_more(replicas: Replicas) -> None:
    await store(replicas.nc, 400)
    feed = await open_feed(replicas)
    await forget_until(replicas.nc, 400)
    for is_followed in (False, True):
        if is_followed:
            await store(replicas.nc, 1, after=400)
        with pytest.raises(QueueEnded):
            await feed.admit(queue_at(100), 100)


async def test_queues_end_when_what_they_missed_is_gone_before_it_was_read(replicas: Replicas) -> None:
    buried: list[Queue] = []
    await store(replicas.nc, 10)
    feed = await open_feed(replicas, buried)
    queue = queue_at(10)
    await feed.admit(queue, 10)
    await store(replicas.nc, 10, after=10)
    await forget_until(replicas.nc, 20)
    feed.expect(20)
    async with asyncio.timeout(10):
        while feed.head < 20:
            await asyncio.sleep(0.01)
    assert buried == [queue]


async def test_other_organizations_and_what_is_kept_no_more_leave_no_hole(replicas: Replicas) -> None:
    await store(replicas.nc, 20)
    await store(replicas.nc, 30, subject=f"ev.{SHARD}.2", after=20)
    await store(replicas.nc, 10, after=50)
    await forget_until(replicas.nc, 5)
    found = [one.seq async for one in replicas.read(SHARD, EPOCH, SUBJECT, 0, 60)]
    assert found == [*range(6, 21), *range(51, 61)]


async def test_large_events_come_few_at_a_time(replicas: Replicas) -> None:
    """All of a batch is in memory, and what others hear waits behind it."""
    large = msgspec.json.encode(record(Audience(realm=True), "flood", {"text": "x" * (BATCH_BYTES // 4)}))
    await store(replicas.nc, 40, body=large)
    found = [one.seq async for one in replicas.read(SHARD, EPOCH, SUBJECT, 0, 40)]
    assert found == list(range(1, 41))
    assert max(replicas.batches) <= 5


async def test_a_registration_begins_where_it_should_though_a_replica_is_behind(replicas: Replicas) -> None:
    await store(replicas.nc, 100)
    await store(replicas.nc, 500, subject=f"ev.{SHARD}.2", after=100)
    await store(replicas.nc, 300, after=600)
    feed = await open_feed(replicas)
    assert feed.head - FIRST_LOOK_BACK > 600
    replicas.fall_behind(until=50)
    saw_90 = Snapshot(xmin=91, xmax=91, under_way=frozenset(), lsn="0" * 16)
    assert await feed.start_of(saw_90, feed.head) == 90


async def test_nobody_registers_with_a_database_that_was_replaced(replicas: Replicas) -> None:
    """Its transactions have the numbers of others that are in the log."""
    await store(replicas.nc, 10)
    feed = await open_feed(replicas)
    feed.receive(msgspec.structs.replace(heard_live(11, 10), timeline=2))
    read_there = Snapshot(xmin=91, xmax=91, under_way=frozenset(), lsn="0" * 16, timeline=1)
    with pytest.raises(StreamUnavailable, match="replaced"):
        await feed.start_of(read_there, feed.head)
    for timeline in (0, 2, 3):
        assert await feed.start_of(msgspec.structs.replace(read_there, timeline=timeline), feed.head) == 11


async def test_a_message_that_is_lost_on_the_way_is_asked_for_again(replicas: Replicas) -> None:
    await store(replicas.nc, 300)
    stream = Unreliable(replicas.nc, 1)
    found = [one.seq async for one in stream.read(SHARD, EPOCH, SUBJECT, 0, 300)]
    assert stream.lost == 6
    assert found == list(range(1, 301))
