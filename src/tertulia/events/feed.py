"""A realm's log as one process sees it: the recent events, and who of the listeners here hears which.

Concurrency: everything happens on the event loop; `receive` never waits, so the log has one order here.
Lifecycle: opened with the first listener, closed when the realm had none for a while.
Invariants:
- Events are taken in the order of the log without holes: one that does not follow the last is not taken, the missing
  part is read from the stream first.
- A queue *settles* when the log has passed the moment its memberships were read. Until then each event is decided for it
  alone and exactly; after that by the index, which the same log keeps current.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Iterator

import msgspec
import structlog

from tertulia.events.logged import Logged
from tertulia.events.marks import Marks
from tertulia.events.queue import Queue
from tertulia.events.record import Audience
from tertulia.events.snapshot import Snapshot
from tertulia.events.stream import EventStream, Stored, StreamUnavailable, event_subject

log = structlog.get_logger()

TAIL_EVENTS = 2000
TAIL_BYTES = 8 * 1024 * 1024
FIRST_LOOK_BACK = 256


class QueueEnded(Exception):
    """The log after a queue's position says that the queue has ended, or cannot be read."""


class Feed:
    """One realm's events in this process."""

    def __init__(self, stream: EventStream, realm_id: int, epoch: int, bury: Callable[[Queue], None]) -> None:
        self.realm_id = realm_id
        self.epoch = epoch
        self.shard = realm_id % stream.shards
        self.subject = event_subject(self.shard, realm_id)
        self.head = 0
        """The last sequence number taken."""
        self.queues: dict[str, Queue] = {}
        self._stream = stream
        self._bury = bury
        self._target = 0
        self._catching: asyncio.Task[None] | None = None
        self._tail: deque[Logged] = deque()
        self._tail_bytes = 0
        self._tail_from = 0
        """Everything after this number is in the tail."""
        self._settling: set[Queue] = set()
        self._by_user: defaultdict[int, set[Queue]] = defaultdict(set)
        self._by_channel: defaultdict[int, set[Queue]] = defaultdict(set)
        self._listening_to_all: set[Queue] = set()
        self._marks = Marks(self._look)
        self._is_closed = False

    async def open(self) -> None:
        """Learn where the log ends. Called after the live subscription was made; what came meanwhile waits."""
        self._catching = asyncio.current_task()
        try:
            last = await self._stream.last(self.shard, self.epoch, self.subject)
            if last is not None:
                start = max(0, last.seq - FIRST_LOOK_BACK)
                self.head = self._tail_from = start
                async for stored in self._stream.read(self.shard, self.epoch, self.subject, start, last.seq):
                    self._take(stored)
                self.head = max(self.head, last.seq)
        finally:
            self._catching = None
        if self._target > self.head:
            self._catch_up()

    def close(self) -> None:
        """Stop reading, for good: who waits for something is told."""
        self._is_closed = True
        self._marks.close()
        if self._catching is not None:
            self._catching.cancel()

    # Taking events

    def receive(self, stored: Stored) -> None:
        """An event arrived live."""
        if self._is_closed or stored.epoch != self.epoch:
            return
        self._target = max(self._target, stored.seq)
        if self._catching is not None:
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
        if self._catching is None and self._target > self.head and not self._is_closed:
            log.info("events were missed, reading them from the log", realm=self.realm_id, after=self.head, to=last_seq)
            self._catch_up()

    def _check_repeat(self, stored: Stored) -> None:
        for logged in reversed(self._tail):
            if logged.seq == stored.seq and logged.pos != stored.pos:
                log.error("a sequence number came back with another event", realm=self.realm_id, seq=stored.seq)

    def _catch_up(self) -> None:
        self._catching = asyncio.create_task(self._read_missing())

    async def _read_missing(self) -> None:
        try:
            while self.head < self._target:
                before = self.head
                try:
                    async for stored in self._stream.read(
                        self.shard, self.epoch, self.subject, self.head, self._target
                    ):
                        self._take(stored)
                except StreamUnavailable as reason:
                    log.warning("the log cannot be read now", realm=self.realm_id, reason=str(reason))
                if self.head == before:
                    await asyncio.sleep(0.2)  # a replica is behind, or NATS is away
        finally:
            self._catching = None

    def _take(self, stored: Stored) -> None:
        logged = Logged(stored)
        self.head = stored.seq
        self._remember(logged)
        if logged.is_broken:
            log.error(
                "an event cannot be read: the queues that may have missed it end", realm=self.realm_id, seq=logged.seq
            )
            for queue in [queue for queue in self.queues.values() if not queue.knows(logged)]:
                self._bury(queue)
        for queue in list(self._settling):
            if queue.joined.is_before(logged.pos):
                self._settle(queue)
            else:
                queue.replay(logged)
                if queue.is_dead:
                    self._bury(queue)
        self._deliver(logged)
        for change in logged.record.changes:
            for user_id in change.users:
                for queue in self._by_user.get(user_id, ()):
                    self._change_membership(queue, change.channel, joined=change.joined)
        self._end(logged)
        if logged.xid is not None:
            self._marks.arrived(logged.xid)

    def _deliver(self, logged: Logged) -> None:
        for queue in self._audience(logged.record.to):
            if queue.is_closed_by(logged):
                self._bury(queue)
            else:
                queue.offer(logged)

    def _end(self, logged: Logged) -> None:
        if logged.record.ends:
            ended = [queue for queue in self.queues.values() if queue.user_id in logged.record.ends]
            for queue in ended:
                if not queue.knows(logged):
                    self._bury(queue)

    def _remember(self, logged: Logged) -> None:
        self._tail.append(logged)
        self._tail_bytes += logged.size
        while len(self._tail) > TAIL_EVENTS or self._tail_bytes > TAIL_BYTES:
            oldest = self._tail.popleft()
            self._tail_bytes -= oldest.size
            self._tail_from = oldest.seq

    # Who hears

    def _audience(self, to: Audience) -> set[Queue]:
        if to.without is not None:
            return self._audience(msgspec.structs.replace(to, without=None)) - self._audience(to.without)
        if to.realm:
            return {queue for queue in self.queues.values() if queue not in self._settling}
        found: set[Queue] = set()
        if to.members:
            found |= {queue for queue in self.queues.values() if not queue.is_guest and queue not in self._settling}
        for user_id in to.users:
            found |= self._by_user.get(user_id, set())
        if to.channel is not None:
            found |= self._by_channel.get(to.channel, set())
            if to.public:
                found |= self._listening_to_all
        return found

    def _change_membership(self, queue: Queue, channel: int, *, joined: bool) -> None:
        if joined:
            queue.channels.add(channel)
            self._by_channel[channel].add(queue)
        else:
            queue.channels.discard(channel)
            self._by_channel[channel].discard(queue)

    def _settle(self, queue: Queue) -> None:
        self._settling.discard(queue)
        queue.history = {}
        self._by_user[queue.user_id].add(queue)
        for channel in queue.channels:
            self._by_channel[channel].add(queue)
        if queue.all_public:
            self._listening_to_all.add(queue)

    # Listeners

    async def admit(self, queue: Queue, after: int) -> None:
        """Add a listener whose next event is the first after this number."""
        await self._each_after(after, queue.replay)
        if queue.is_dead:
            raise QueueEnded(f"the queue {queue.id} ended after its position")
        self.queues[queue.id] = queue
        self._settling.add(queue)

    async def rewind(self, queue: Queue, after: int) -> None:
        """Give a listener the memberships it had at its place in the log: those that were read from the database are newer.

        All that was read must be in what this feed has taken: see `pass_by`.
        """
        await self._each_after(after, queue.rewind)

    async def pass_by(self, xid: int) -> None:
        """Wait until the log here has an event of this transaction: it then has all that was committed before."""
        if not self._has(xid):
            await self._marks.wait(xid)

    async def _look(self) -> None:
        try:
            last = await self._stream.last(self.shard, self.epoch, self.subject)
        except StreamUnavailable as reason:
            log.warning("the end of the log is not known now", realm=self.realm_id, reason=str(reason))
        else:
            self.expect(last.seq if last is not None else 0)

    def _has(self, xid: int) -> bool:
        for logged in reversed(self._tail):
            if logged.xid == xid:
                return True
            if logged.xmax < xid:
                break
        return False

    async def _each_after(self, position: int, act: Callable[[Logged], None]) -> None:
        """Do something with every event after a position; with the last of them without waiting in between."""
        while (recent := self._tail_after(position)) is None:
            until = self.head
            async for logged in self._read(position, until):
                act(logged)
            position = until
        for logged in recent:
            act(logged)

    def remove(self, queue: Queue) -> None:
        """Forget a listener."""
        self.queues.pop(queue.id, None)
        self._settling.discard(queue)
        self._listening_to_all.discard(queue)
        self._by_user[queue.user_id].discard(queue)
        if not self._by_user[queue.user_id]:
            del self._by_user[queue.user_id]
        for channel in queue.channels:
            self._by_channel[channel].discard(queue)
            if not self._by_channel[channel]:
                del self._by_channel[channel]

    async def start_of(self, snapshot: Snapshot, head: int) -> int:
        """The number after which every event may be missing in the state of this snapshot.

        Events reach the log before their transaction is visible, so the search goes back from the head while the
        running maximum of transaction ids is not below the snapshot.
        """
        for logged in reversed(self._tail):
            if logged.seq <= head and logged.xmax < snapshot.xmin:
                return logged.seq
        return await self._search_back(snapshot, min(head, self._tail_from))

    async def _search_back(self, snapshot: Snapshot, position: int) -> int:
        window = FIRST_LOOK_BACK
        while position > 0:
            start = max(0, position - window)
            settled = [logged.seq async for logged in self._read(start, position) if logged.xmax < snapshot.xmin]
            if settled:
                return settled[-1]
            position, window = start, window * 4
        return 0

    def _tail_after(self, position: int) -> list[Logged] | None:
        if position < self._tail_from:
            return None
        return list(_newer(self._tail, position))

    async def _read(self, after: int, until: int) -> AsyncIterator[Logged]:
        async for stored in self._stream.read(self.shard, self.epoch, self.subject, after, until):
            yield Logged(stored)


def _newer(tail: deque[Logged], position: int) -> Iterator[Logged]:
    newest_first = []
    for logged in reversed(tail):
        if logged.seq <= position:
            break
        newest_first.append(logged)
    return reversed(newest_first)
