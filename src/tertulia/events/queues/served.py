"""The queues that live in this process.

Invariant: a queue lives in one process at a time: whoever takes one over claims it, and the others let go of theirs.
A queue that nobody polls ends here first, and its record expires a little later; while it is polled, the record is kept.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from nats.aio.client import Client
from prometheus_client import Counter

from tertulia.events.log.jetstream import StreamUnavailable
from tertulia.events.queues.arrivals import FeedEnded
from tertulia.events.queues.claims import Claims
from tertulia.events.queues.feed import Feed
from tertulia.events.queues.filters import Filter
from tertulia.events.queues.memberships import Memberships
from tertulia.events.queues.queue import Queue
from tertulia.events.queues.queue_record import FoundRecord, QueueRecord, put_record
from tertulia.events.queues.waiters import Waker

TAKEN_OVER = Counter("tertulia_queue_takeovers", "Event queues taken over from another process, or moved back")
ENDED = Counter(
    "tertulia_queues_ended", "Event queues that left this process, for another one (moved) or for good (ended)", ["how"]
)

LONG_AGO = float("-inf")


@dataclass(slots=True, eq=False)
class Served:
    """A queue and the feed that it listens to."""

    queue: Queue
    feed: Feed
    record_kept_at: float
    """When this process last put off the end of the queue's record."""


class ServedQueues:
    """By their ids."""

    def __init__(self, nc: Client, filters: Mapping[str, Filter], knows: str = "") -> None:
        self._nc = nc
        self._filters = filters
        self._knows = knows
        self.claims = Claims(nc, partial(self.let_go, moved=True))
        self._waker = Waker()
        self._served: dict[str, Served] = {}
        self._of_user: defaultdict[int, set[str]] = defaultdict(set)
        self._of_person: defaultdict[int, set[str]] = defaultdict(set)
        """With those of the accounts they own."""
        self._keeping: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._served)

    def __iter__(self) -> Iterator[Queue]:
        return iter([served.queue for served in self._served.values()])

    async def open(self) -> None:
        """Hear when other processes take queues over."""
        await self.claims.open()

    def find(self, queue_id: str) -> Queue | None:
        """The queue, if it lives here."""
        served = self._served.get(queue_id)
        return None if served is None else served.queue

    def is_alive(self, queue: Queue) -> bool:
        """Whether the queue still is the one that lives here."""
        return self.find(queue.id) is queue

    def head_of(self, queue: Queue) -> int:
        """The number up to which the queue has seen the log."""
        return self._served[queue.id].feed.head

    def is_revoked(self, queue: Queue, credential: int) -> bool:
        """Whether the log, as far as the queue has seen it, says that a credential is good for nothing."""
        served = self._served.get(queue.id)
        return served is not None and credential in served.feed.revoked

    async def add(self, record: QueueRecord, feed: Feed, memberships: Memberships) -> Queue:
        """A queue that was registered just now, and its record written."""
        queue = self._make(record, memberships, record.start)
        await self._admit(queue, feed, record.start, record_kept_at=time.monotonic())
        return queue

    async def move_here(
        self, found: FoundRecord, feed: Feed, memberships: Memberships, after: int, start: int
    ) -> Queue:
        """A queue that lived elsewhere, or too far behind; its memberships are newer than its place in the log.

        The client has everything up to `after`; the log is looked through from `start` on, for changes of memberships.
        """
        record = found.record
        self.let_go(record.id, moved=True)
        await self.claims.claim(record.id)
        queue = self._make(record, memberships, after)
        await feed.rewind(queue, start)
        # Not written again before it is due: thousands that move at once would write thousands of records.
        kept_at = time.monotonic() - found.age if found.age >= 0 else LONG_AGO
        await self._admit(queue, feed, start, record_kept_at=kept_at)
        TAKEN_OVER.inc()
        return queue

    def let_go(self, queue_id: str, *, moved: bool = False) -> None:
        """Forget a queue, and send away the request that waits on it."""
        served = self._served.pop(queue_id, None)
        if served is not None:
            for owners, owner in self._owners(served.queue):
                owners[owner].discard(queue_id)
                if not owners[owner]:
                    del owners[owner]
            ENDED.labels("moved" if moved else "ended").inc()
            served.feed.remove(served.queue)
            served.queue.close(moved=moved)

    def let_go_idle(self) -> None:
        """Forget the queues that nobody polls, and much of what others leave where it is."""
        now = time.monotonic()
        for queue in self:
            if queue.is_idle(now):
                self.let_go(queue.id)
            else:
                queue.drop_what_was_left()

    def too_many_of(self, record: QueueRecord, limit: int, limit_with_owned: int) -> set[str]:
        """Of whoever has this queue: those that were not polled for the longest time, but for so many."""
        own = self._of_user.get(record.user_id, set())
        of_person = self._of_person.get(record.owner_id or record.user_id, set())
        return {*self._oldest(own, len(own) - limit), *self._oldest(of_person, len(of_person) - limit_with_owned)}

    def _oldest(self, queue_ids: Collection[str], count: int) -> list[str]:
        if count <= 0:
            return []
        return sorted(queue_ids, key=lambda queue_id: self._served[queue_id].queue.last_used)[:count]

    def _owners(self, queue: Queue) -> tuple[tuple[defaultdict[int, set[str]], int], ...]:
        return (self._of_user, queue.user_id), (self._of_person, queue.person_id)

    def keep_record(self, queue: Queue) -> None:
        """Put off the end of a polled queue's record, now and then."""
        served = self._served.get(queue.id)
        now = time.monotonic()
        if served is not None and now - served.record_kept_at > queue.record.idle_seconds / 3:
            served.record_kept_at = now
            self._keeping.add(task := asyncio.create_task(self._put_record(served)))
            task.add_done_callback(self._keeping.discard)

    async def _put_record(self, served: Served) -> None:
        if not self.is_alive(served.queue):
            return  # a record that was deleted meanwhile must not come back
        try:
            await put_record(self._nc, served.queue.record)
        except StreamUnavailable:
            served.record_kept_at = LONG_AGO  # with the next poll

    def _make(self, record: QueueRecord, memberships: Memberships, after: int) -> Queue:
        return Queue(record, memberships, after, filters=self._filters, knows=self._knows, waker=self._waker)

    async def _admit(self, queue: Queue, feed: Feed, start: int, *, record_kept_at: float) -> None:
        await feed.admit(queue, start)
        if feed.is_closed:
            raise FeedEnded("the feed ended while the queue was being made")
        self._served[queue.id] = Served(queue, feed, record_kept_at)
        for owners, owner in self._owners(queue):
            owners[owner].add(queue.id)
