"""A realm's log as one process sees it: its events in order, the recent ones kept (tail.py), and given to who hears them
(listeners.py).

Concurrency: everything happens on the event loop; `receive` never waits, so the log has one order here.
Lifecycle: opened with the first listener, closed when the realm had none for a while.
Invariant: events are taken in the order of the log without holes: one that does not follow the last is not taken, the
missing part is read from the stream first. Where the stream does not have it any more, the queues end.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Container, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import structlog

from tertulia.events.log.jetstream import StreamUnavailable
from tertulia.events.log.snapshot import Snapshot
from tertulia.events.log.stream import EventsGone, EventStream, Stored, event_subject
from tertulia.events.queues.arrivals import Arrivals
from tertulia.events.queues.listeners import Listeners
from tertulia.events.queues.logged_event import LoggedEvent
from tertulia.events.queues.queue import Queue
from tertulia.events.queues.revoked import Revoked
from tertulia.events.queues.tail import Tail

log = structlog.get_logger()

FIRST_LOOK_BACK = 256


class QueueEnded(Exception):
    """The log after a queue's position says that the queue has ended, or cannot be read."""


class ReadCount:
    """How many events were read from the log, and of how many bytes."""

    events = 0
    bytes = 0


_reads: ContextVar[ReadCount | None] = ContextVar("reads", default=None)


@contextmanager
def counting_reads() -> Iterator[ReadCount]:
    """Count what this task reads from the log meanwhile."""
    count = ReadCount()
    token = _reads.set(count)
    try:
        yield count
    finally:
        _reads.reset(token)


def count_read(size: int) -> None:
    """One event of so many bytes was read, for whoever counts."""
    if (count := _reads.get()) is not None:
        count.events += 1
        count.bytes += size


class Feed:
    """One realm's events in this process."""

    def __init__(
        self,
        stream: EventStream,
        realm_id: int,
        epoch: int,
        bury: Callable[[Queue], None],
        kinds: Container[str] | None = None,
    ) -> None:
        self.realm_id = realm_id
        self.epoch = epoch
        self.shard = realm_id % stream.shards
        self.subject = event_subject(self.shard, realm_id)
        self.head = 0
        """The last sequence number taken."""
        self.is_closed = False
        self.revoked = Revoked()
        self._stream = stream
        self._bury = bury
        self._kinds = kinds
        self._target = 0
        self._is_open = False
        """Until the end of the log has been looked up, what arrives live only tells how far the log reaches."""
        self._catching: asyncio.Task[None] | None = None
        self._tail = Tail()
        self._listeners = Listeners()
        self._arrivals = Arrivals(self._look)
        self._reaching_back = asyncio.Lock()
        self._out_of_reach = 0
        """Positions from here back are further than the tail can reach."""

    @property
    def queues(self) -> list[Queue]:
        """Those who listen."""
        return list(self._listeners.queues.values())

    async def open(self) -> None:
        """Learn where the log ends. Called after the live subscription was made; what came meanwhile waits."""
        self._catching = asyncio.current_task()
        try:
            last = await self._stream.last(self.shard, self.epoch, self.subject)
            if last is not None:
                start = max(0, last.seq - FIRST_LOOK_BACK)
                self.head = start
                self._tail = Tail(start)
                async for stored in self._stream.read(self.shard, self.epoch, self.subject, start, last.seq):
                    self._take(stored)
        finally:
            self._catching = None
        self._is_open = True
        if self._target > self.head:
            self._catch_up()

    def close(self) -> None:
        """Stop reading, for good: who waits for something is told."""
        self.is_closed = True
        self._arrivals.close()
        if self._catching is not None:
            self._catching.cancel()

    # Taking events

    def receive(self, stored: Stored) -> None:
        """An event arrived live."""
        if self.is_closed or stored.epoch != self.epoch:
            return
        self._target = max(self._target, stored.seq)
        if self._catching is not None or not self._is_open:
            return
        if stored.seq <= self.head:
            self._check_repeat(stored)
        elif stored.previous == self.head or (self.head == 0 and stored.previous == 0):
            self._take(stored)
        else:
            self._catch_up()

    def expect(self, last_seq: int) -> None:
        """An audit says that the realm's log reaches this number."""
        self._target = max(self._target, last_seq)
        if self._catching is None and self._is_open and self._target > self.head and not self.is_closed:
            log.info("events were missed, reading them from the log", realm=self.realm_id, after=self.head, to=last_seq)
            self._catch_up()

    def _check_repeat(self, stored: Stored) -> None:
        logged = self._tail.find(stored.seq)
        if logged is not None and logged.pos != stored.pos:
            log.error("a sequence number came back with another event", realm=self.realm_id, seq=stored.seq)

    def _catch_up(self) -> None:
        self._catching = asyncio.create_task(self._read_missing())

    async def _read_missing(self) -> None:
        try:
            while (until := self._target) > self.head:
                try:
                    async for stored in self._stream.read(self.shard, self.epoch, self.subject, self.head, until):
                        self._take(stored)
                except EventsGone as reason:
                    self._skip_to(until, reason)
                except StreamUnavailable as reason:
                    log.warning("the log cannot be read now", realm=self.realm_id, reason=str(reason))
                    await asyncio.sleep(0.2)
        finally:
            self._catching = None

    def _skip_to(self, seq: int, reason: EventsGone) -> None:
        log.error("events are gone: the queues that missed them end", realm=self.realm_id, reason=str(reason))
        for queue in self.queues:
            self._bury(queue)
        self.head = seq
        self._tail = Tail(seq)

    def _take(self, stored: Stored) -> None:
        logged = LoggedEvent(stored, self._kinds)
        self.head = stored.seq
        self._tail.append(logged)
        if logged.is_broken:
            log.error(
                "an event cannot be read: the queues that may have missed it end", realm=self.realm_id, seq=logged.seq
            )
            for queue in self.queues:
                if not queue.knows(logged):
                    self._bury(queue)
        for queue in list(self._listeners.settling):
            if queue.memberships.are_passed_by(logged.pos, logged.timeline):
                self._listeners.settle(queue)
            else:
                queue.replay(logged)
                if queue.is_dead:
                    self._bury(queue)
        self._deliver(logged)
        self._listeners.change(logged.record.changes)
        self._end(logged)
        if logged.record.revokes:
            self._revoke(logged.record.revokes)
        if logged.xid is not None:
            self._arrivals.arrived(logged.xid)

    def _deliver(self, logged: LoggedEvent) -> None:
        for queue in self._listeners.audience(logged.record.to):
            if queue.is_closed_by(logged):
                self._bury(queue)
            else:
                queue.offer(logged)

    def _end(self, logged: LoggedEvent) -> None:
        if logged.record.ends:
            for queue in self.queues:
                if queue.user_id in logged.record.ends and not queue.knows(logged):
                    self._bury(queue)

    def _revoke(self, credentials: tuple[int, ...]) -> None:
        self.revoked.add(credentials)
        for queue in self.queues:
            queue.end_wait_with(credentials)

    # Listeners

    async def admit(self, queue: Queue, after: int) -> None:
        """Add a listener whose next event is the first after this number."""
        await self._each_after(after, queue.replay)
        if queue.is_dead:
            raise QueueEnded(f"the queue {queue.id} ended after its position")
        self._listeners.add(queue)

    def remove(self, queue: Queue) -> None:
        """Forget a listener."""
        self._listeners.remove(queue)

    async def rewind(self, queue: Queue, after: int) -> None:
        """Give a listener the memberships it had at its place in the log: those that were read from the database are newer.

        All that was read must be in what this feed has taken: see `pass_by`.
        """
        await self._each_after(after, queue.rewind)

    async def pass_by(self, xid: int) -> None:
        """Wait until the log here has an event of this transaction: it then has all that was committed before."""
        if not self._tail.has_transaction(xid):
            await self._arrivals.wait(xid)

    async def _look(self) -> None:
        try:
            last = await self._stream.last(self.shard, self.epoch, self.subject)
        except StreamUnavailable as reason:
            log.warning("the end of the log is not known now", realm=self.realm_id, reason=str(reason))
        else:
            self.expect(last.seq if last is not None else 0)

    async def _each_after(self, position: int, act: Callable[[LoggedEvent], None]) -> None:
        """Do something with every event after a position; with the last of them without waiting in between."""
        if self._tail.after(position) is None:
            await self._reach_back(position)
        while (recent := self._tail.after(position)) is None:
            until = self._tail.oldest
            try:
                async for logged in self._read(position, until):
                    act(logged)
            except EventsGone as reason:
                raise QueueEnded(str(reason)) from reason
            position = until
        for logged in recent:
            act(logged)

    async def _reach_back(self, position: int) -> None:
        """Let the tail begin at a position, if there is room for that: after a restart thousands of queues come back that are
        all a little behind, and what they missed is read once."""
        async with self._reaching_back:
            tail = self._tail
            if position <= self._out_of_reach or tail.after(position) is not None:
                return
            until, older, size = tail.oldest, [], 0
            try:
                async for logged in self._read(position, until):
                    older.append(logged)
                    size += logged.size
                    if not tail.has_room_for(len(older), size):
                        self._out_of_reach = position
                        return
            except EventsGone as reason:
                raise QueueEnded(str(reason)) from reason
            if self._tail is tail and tail.oldest == until:  # else it has lost its end meanwhile
                tail.put_before(older, position)

    async def start_of(self, snapshot: Snapshot, head: int) -> int:
        """The number after which every event may be missing in the state of this snapshot.

        Events reach the log before their transaction is visible, so the search goes back from the head while the
        running maximum of transaction ids is not below the snapshot.
        """
        if 0 < snapshot.timeline < self._tail.timeline:
            raise StreamUnavailable(
                "this process reads a database that was replaced: its transactions are not the log's"
            )
        seen = self._tail.find_seen(snapshot, head)
        return await self._search_back(snapshot, head) if seen is None else seen

    async def _search_back(self, snapshot: Snapshot, head: int) -> int:
        known, window = self._tail.oldest, FIRST_LOOK_BACK
        while known > 0:
            start = max(0, known - window)
            try:
                events = [logged async for logged in self._read(start, known)]
            except EventsGone:
                return 0
            settled = [logged.seq for logged in events if logged.seq <= head and logged.xmax < snapshot.xmin]
            if settled or start == 0:
                return settled[-1] if settled else 0
            known, window = events[0].seq, window * 4
        return 0

    async def _read(self, after: int, until: int) -> AsyncIterator[LoggedEvent]:
        async for stored in self._stream.read(self.shard, self.epoch, self.subject, after, until):
            count_read(len(stored.data))
            yield LoggedEvent(stored, self._kinds)
