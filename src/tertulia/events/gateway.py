"""The gateway: the event queues of one web process.

Lifecycle: `open` before the first request, `drain` when the process is asked to stop (polls end with a heartbeat, so that
clients go elsewhere), `close` at the end. Between them three tasks run: the watch of the epoch and the audit of the
feeds (feeds.py), and the sweep of queues nobody polls.
Invariants:
- An event is delivered or the queue is declared dead: a new epoch, a lost stream or a hole in the log ends the queues.
- A queue lives in one process at a time: whoever takes one over tells the others to let go of theirs.
"""

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg

from tertulia.events.epoch import ensure_buckets
from tertulia.events.feed import Feed, QueueEnded
from tertulia.events.feeds import Feeds
from tertulia.events.filters import Filter
from tertulia.events.marks import FeedEnded
from tertulia.events.options import QueueOptions
from tertulia.events.queue import Queue
from tertulia.events.ranges import SeqSet
from tertulia.events.record import Audience, Record
from tertulia.events.signals import Signals
from tertulia.events.snapshot import Snapshot, parse_snapshot
from tertulia.events.store import QueueRecord, drop_record, find_record, put_record
from tertulia.events.stream import StreamUnavailable
from tertulia.events.wake import WakeUps
from tertulia.kernel.auth import Caller
from tertulia.kernel.coalesce import Coalescer
from tertulia.kernel.db import Database, Reader
from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings
from tertulia.kernel.tasks import end_tasks

log = structlog.get_logger()

SWEEP_SECONDS = 20.0
CLAIM = "queue.claim"
REFILL_LOOKS = 10
REFILL_PAUSE = 0.2
MARK = "mark"
"""The type of events that only tell how far the log has come."""
MARK_PACE = 0.02
"""Seconds between two transactions with marks: thousands of clients that come back together share a few."""

Memberships = Callable[[Reader, int], Awaitable[dict[int, SeqSet]]]
"""The channels of a user with the numbers that were theirs; an open end means that they belong to it now."""
Refresh = Callable[[Reader, Caller], Awaitable[Caller]]
"""The caller as of this reader's snapshot; refuses who has no account any more."""
LoadState = Callable[[Reader, Caller], Awaitable[dict[str, Any]]]


class Joined(NamedTuple):
    """What a user belongs to, and the number in the log after which there may be changes of that not in it."""

    snapshot: Snapshot
    memberships: dict[int, SeqSet]
    start: int


class Gateway:
    """Registers queues, finds them, and keeps them fed."""

    def __init__(
        self, nc: Client, database: Database, settings: Settings, memberships: Memberships, refresh: Refresh
    ) -> None:
        self.settings = settings
        self.draining = False
        self.filters: Mapping[str, Filter] = {}
        """By type of event: who reads the narrows of queues."""
        self._nc = nc
        self.signals = Signals(nc, settings.shards)
        self._database = database
        self._memberships = memberships
        self._refresh = refresh
        self._feeds = Feeds(nc, settings, lambda queue: self._let_go(queue.id))
        self._stream = self._feeds.stream
        self._name = uuid.uuid4().hex
        self._wake_ups = WakeUps()
        self._marks: Coalescer[int, int] = Coalescer(self._write_marks, pace=MARK_PACE)
        self._queues: dict[str, tuple[Queue, Feed, QueueRecord]] = {}
        self._taking_over: dict[tuple[str, int], asyncio.Task[Queue | None]] = {}
        self._keeping: set[asyncio.Task[None]] = set()
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self) -> None:
        """Start watching. Waits for NATS, not for the relay: a new installation has no epoch yet."""
        await ensure_buckets(self._nc, self.settings.nats_replicas)
        await self._nc.subscribe(f"{CLAIM}.*", cb=self._claimed)
        self._tasks = [asyncio.create_task(run()) for run in (self._feeds.watch, self._feeds.audit, self._sweep)]

    def drain(self) -> None:
        """End every waiting poll with a heartbeat."""
        self.draining = True
        for queue, _, _ in self._queues.values():
            queue.end_wait()

    async def close(self) -> None:
        """Stop all tasks."""
        self._feeds.close()
        await end_tasks(self._tasks)

    @property
    def is_ready(self) -> bool:
        """Whether queues can be registered here."""
        return self._feeds.has_epoch and self._nc.is_connected

    @property
    def queue_count(self) -> int:
        """How many queues live in this process."""
        return len(self._queues)

    @property
    def waiting_count(self) -> int:
        """How many of them have a request waiting."""
        return sum(1 for queue, _, _ in self._queues.values() if queue.waiter is not None)

    # Queues

    async def register(
        self, caller: Caller, options: QueueOptions, idle_seconds: int, load_state: LoadState
    ) -> tuple[QueueRecord, dict[str, Any]]:
        """Read the state and make a queue of everything the state does not hold."""
        feed = await self._feeds.get(caller.realm_id)
        head = feed.head
        async with self._database.snapshot() as reader:
            snapshot = await read_snapshot(reader)
            # What the caller was when the request came in may have changed since: the state is of one moment.
            caller = await self._refresh(reader, caller)
            state = await load_state(reader, caller)
            memberships = await self._memberships(reader, caller.user_id)
        start = await feed.start_of(snapshot, head) or await self._beginning(feed)
        record = QueueRecord(
            id=str(uuid.uuid4()),
            realm_id=caller.realm_id,
            user_id=caller.user_id,
            role=caller.role,
            epoch=feed.epoch,
            start=start,
            snapshot=snapshot,
            options=options,
            idle_seconds=idle_seconds,
        )
        await put_record(self._nc, record)
        try:
            queue = await self._add(record, feed, Joined(snapshot, memberships, start), start)
            queue.kept_at = time.monotonic()
        except QueueEnded as reason:
            raise StreamUnavailable(str(reason)) from reason
        return record, state

    async def show(self, open_door: Callable[[Reader], Awaitable[Caller]], load_state: LoadState) -> dict[str, Any]:
        """The state alone, of one moment, for a caller who gets no queue."""
        async with self._database.snapshot() as reader:
            return await load_state(reader, await open_door(reader))

    async def find(self, caller: Caller, queue_id: str, last_event_id: int) -> Queue:
        """The caller's queue, taken over from another process if need be; a Refusal if it is dead or not theirs."""
        held = self._queues.get(queue_id)
        queue = held[0] if held is not None else None
        # Requests share a take-over, so it may have begun at the position of another one: then once more.
        while queue is None or self._must_read_again(queue, last_event_id):
            queue = await self._take_over_once(caller, queue_id, last_event_id)
            if queue is None:
                raise bad_queue(queue_id)
        if queue.user_id != caller.user_id or queue.role != caller.role:
            raise bad_queue(queue_id)
        return queue

    async def delete(self, caller: Caller, queue_id: str) -> None:
        """End a queue, wherever it lives, and the request that waits on it."""
        held = self._queues.get(queue_id)
        record = held[2] if held is not None else await find_record(self._nc, queue_id)
        if record is None or record.user_id != caller.user_id or record.role != caller.role:
            raise bad_queue(queue_id)
        await drop_record(self._nc, queue_id)
        self._let_go(queue_id)
        await self._nc.publish(f"{CLAIM}.{queue_id}", self._name.encode())

    def is_alive(self, queue: Queue) -> bool:
        """Whether the queue still is the one that lives here."""
        held = self._queues.get(queue.id)
        return held is not None and held[0] is queue

    def head_of(self, queue: Queue) -> int:
        """The number up to which the queue has seen the log."""
        return self._queues[queue.id][1].head

    def keep(self, queue: Queue) -> None:
        """Put off the end of a polled queue's record, now and then."""
        now = time.monotonic()
        if now - queue.kept_at > queue.idle_seconds / 3:
            queue.kept_at = now
            self._keeping.add(task := asyncio.create_task(self._keep_record(queue)))
            task.add_done_callback(self._keeping.discard)

    async def _keep_record(self, queue: Queue) -> None:
        try:
            await put_record(self._nc, self._queues[queue.id][2])
        except (StreamUnavailable, KeyError):
            queue.kept_at = float("-inf")  # with the next poll

    def _must_read_again(self, queue: Queue, last_event_id: int) -> bool:
        """Whether what is kept here is not enough: another process has served the queue, or it was too far behind."""
        if last_event_id > queue.issued:
            return True
        return queue.overflowed and (not queue.pending or last_event_id >= queue.pending[-1].seq)

    async def _take_over_once(self, caller: Caller, queue_id: str, last_event_id: int) -> Queue | None:
        key = queue_id, caller.user_id
        task = self._taking_over.get(key)
        if task is None:
            task = self._taking_over[key] = asyncio.create_task(self._take_over(caller, queue_id, last_event_id))
            task.add_done_callback(lambda _: self._taking_over.pop(key, None))
        return await asyncio.shield(task)

    async def _take_over(self, caller: Caller, queue_id: str, last_event_id: int) -> Queue | None:
        record = await find_record(self._nc, queue_id)
        if record is None or record.user_id != caller.user_id or record.role != caller.role:
            return None
        feed = await self._feeds.get(record.realm_id)
        if record.epoch > feed.epoch:
            self._feeds.look_again()
            raise StreamUnavailable("this process has not heard of the new epoch yet")
        if record.epoch != feed.epoch:
            return None
        after = max(record.start, last_event_id)
        info = await self._stream.info(feed.shard, feed.epoch)
        if info is None or info.first_seq > after + 1:
            log.warning("a queue was left for longer than the log reaches back", queue=queue_id)
            return None
        if after > info.last_seq and not await self._refilled(feed, after):
            raise never_issued(after)
        try:
            return await self._move(record, feed, after)
        except FeedEnded:
            if (await self._feeds.get(record.realm_id)).epoch == record.epoch:
                raise  # the client asks again
            return None

    async def _move(self, record: QueueRecord, feed: Feed, after: int) -> Queue | None:
        """Make the queue live here, if it still lives anywhere."""
        joined = await self._read_memberships(feed, record.user_id)
        await self._pass_by(feed)
        self._let_go(record.id, moved=True)
        await self._nc.publish(f"{CLAIM}.{record.id}", self._name.encode())
        try:
            queue = await self._add(record, feed, joined, after, moves=True)
        except QueueEnded:
            return None
        # From here on this process hears when it is deleted; whether that has happened before, its record tells.
        if await find_record(self._nc, record.id) is None:
            self._let_go(record.id)
            return None
        return queue

    async def _read_memberships(self, feed: Feed, user_id: int) -> Joined:
        head = feed.head
        async with self._database.snapshot() as reader:
            snapshot = await read_snapshot(reader)
            memberships = await self._memberships(reader, user_id)
        return Joined(snapshot, memberships, await feed.start_of(snapshot, head))

    async def _pass_by(self, feed: Feed) -> None:
        """Wait until the feed has everything that was committed before this call.

        The relay may be behind the database: what the queue is judged by now may be newer than events that are yet to come.
        So an event that nobody hears is sent after it: one for all queues that are taken over at the same moment.
        """
        xid = await self._marks.load(feed.realm_id)
        assert xid is not None
        await feed.pass_by(xid)

    async def _write_marks(self, realm_ids: Sequence[int]) -> dict[int, int]:
        async with self._database.transaction() as tx:
            for realm_id in realm_ids:
                tx.emit(realm_id, Record(to=Audience(), type=MARK, event=msgspec.Raw(b"{}")))
            xid = int(await tx.fetchval("select pg_current_xact_id()::text"))
        return dict.fromkeys(realm_ids, xid)

    async def _beginning(self, feed: Feed) -> int:
        """The number before the first that the log still has: the start of a queue in a realm without older events."""
        info = await self._stream.info(feed.shard, feed.epoch)
        return max(0, info.first_seq - 1) if info else 0

    async def _refilled(self, feed: Feed, seq: int) -> bool:
        """Whether the log comes to reach this number: a relay fills in what a NATS server lost of its end."""
        for _ in range(REFILL_LOOKS):
            await asyncio.sleep(REFILL_PAUSE)
            info = await self._stream.info(feed.shard, feed.epoch)
            if info is not None and info.last_seq >= seq:
                return True
        return False

    async def _add(self, record: QueueRecord, feed: Feed, joined: Joined, after: int, *, moves: bool = False) -> Queue:
        queue = Queue(record.id, record.user_id, role=record.role, options=record.options, snapshot=record.snapshot)
        queue.joined = joined.snapshot
        queue.history = joined.memberships
        queue.channels = {channel for channel, history in joined.memberships.items() if history.is_open}
        queue.acknowledged = queue.issued = after
        queue.idle_seconds = record.idle_seconds
        queue.wake = self._wake_ups.wake
        queue.filters = self.filters
        # The client may have heard of a membership before the database shows it: look for it in the log as well.
        start = min(after, joined.start)
        if moves:
            await feed.rewind(queue, start)
        await feed.admit(queue, start)
        if not self._feeds.is_current(feed):
            raise FeedEnded("the feed ended while the queue was being made")
        self._queues[queue.id] = queue, feed, record
        return queue

    def _let_go(self, queue_id: str, *, moved: bool = False) -> None:
        held = self._queues.pop(queue_id, None)
        if held is not None:
            queue, feed, _ = held
            queue.has_moved = moved
            feed.remove(queue)
            queue.end_wait()

    async def _claimed(self, msg: Msg) -> None:
        if msg.data != self._name.encode():
            self._let_go(msg.subject.removeprefix(f"{CLAIM}."), moved=True)

    def reconnected(self) -> None:
        """NATS is back: anything may have been missed."""
        self._feeds.look_again()

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(min(SWEEP_SECONDS, self.settings.default_idle_queue_seconds))
            now = time.monotonic()
            for queue_id, (queue, _, _) in list(self._queues.items()):
                if queue.is_idle(now):
                    self._let_go(queue_id)
            await self._feeds.sweep()


# Whatever the snapshot sees was flushed before it could be seen, so all that commits from the flushed end on is new. Not
# the end of what is inserted: a crash takes that back, and the numbers of lost transactions, which the snapshot counts
# as ended, go to new ones below it. Without synchronous commits changes are seen before they are flushed.
_SNAPSHOT = """
select pg_current_snapshot()::text, (case current_setting('synchronous_commit') when 'off'
    then pg_current_wal_insert_lsn() else pg_current_wal_flush_lsn() end)::text
"""


async def read_snapshot(reader: Reader) -> Snapshot:
    """The first statement of a registration's transaction."""
    row = await reader.fetchrow(_SNAPSHOT)
    assert row is not None
    return parse_snapshot(row[0], row[1])


def bad_queue(queue_id: str) -> Refusal:
    """A queue that does not exist (any more), or is somebody else's."""
    return Refusal(f"Bad event queue id: {queue_id}", code="BAD_EVENT_QUEUE_ID", queue_id=queue_id)


def never_issued(event_id: int) -> Refusal:
    """An acknowledgement of an event that this queue never gave out."""
    return Refusal(f"Event {event_id} was not in this queue.")
