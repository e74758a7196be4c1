"""The gateway: the event queues of one web process.

Lifecycle: `open` before the first request, `drain` when the process is asked to stop (polls end with a heartbeat, so that
clients go elsewhere), `close` at the end. Between them three tasks run: the watch of the epoch and the audit of the
feeds (feeds.py), and the sweep of queues nobody polls.
Invariants:
- An event is delivered or the queue is declared dead: a new epoch, a lost stream or a hole in the log ends the queues.
- A change is in the state that a registration read or in the events of its queue (`register`).
"""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from nats.aio.client import Client
from prometheus_client import Counter

from tertulia.events.log.beat import BeatWatch
from tertulia.events.log.buckets import check_answers, ensure_buckets
from tertulia.events.log.jetstream import StreamUnavailable
from tertulia.events.log.signals import Signals
from tertulia.events.queues.bounds import QUEUES, QUEUES_WITH_OWNED
from tertulia.events.queues.feed import Feed, QueueEnded
from tertulia.events.queues.feeds import Feeds
from tertulia.events.queues.filters import Filter, with_read_narrow
from tertulia.events.queues.kinds import Kinds
from tertulia.events.queues.memberships import Memberships
from tertulia.events.queues.options import QueueOptions
from tertulia.events.queues.queries import read_snapshot
from tertulia.events.queues.queue import Queue
from tertulia.events.queues.queue_record import QueueRecord, drop_record, find_record, put_record
from tertulia.events.queues.refusals import bad_queue
from tertulia.events.queues.report import answer_reports
from tertulia.events.queues.served import ServedQueues
from tertulia.events.queues.takeover import LoadMemberships, TakeOvers
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Database, Reader
from tertulia.kernel.joined import JoinedReader, together
from tertulia.kernel.settings import Settings
from tertulia.kernel.tasks import end_tasks

REGISTERED = Counter("tertulia_queue_registrations", "Event queues registered")

SWEEP_SECONDS = 20.0

Refresh = Callable[[Reader, Caller], Awaitable[Caller]]
"""The caller as of this reader's snapshot; refuses who has no account any more."""
LoadState = Callable[[Reader, Caller], Awaitable[dict[str, Any]]]


class Gateway:
    """Registers queues, finds them, and keeps them fed. `filters`, by type of event, read the narrows of queues; `kinds`
    are all types of events."""

    def __init__(
        self,
        nc: Client,
        database: Database,
        settings: Settings,
        memberships: LoadMemberships,
        refresh: Refresh,
        filters: Mapping[str, Filter],
        kinds: Kinds,
    ) -> None:
        self.settings = settings
        self.draining = False
        self.signals = Signals(nc, settings.shards)
        self._nc = nc
        self._database = database
        self._load_memberships = memberships
        self._refresh = refresh
        self._filters = filters
        self._knows = kinds.digest
        self._served = ServedQueues(nc, filters, kinds.digest)
        self._feeds = Feeds(nc, settings, lambda queue: self._served.let_go(queue.id), kinds)
        self._take_overs = TakeOvers(nc, database, self._feeds, self._served, memberships, limited=settings.rate_limits)
        self._beats = BeatWatch(nc)
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self) -> None:
        """Start watching. Waits for NATS, not for the relay: a new installation has no epoch yet."""
        await ensure_buckets(self._nc, self.settings.nats_replicas)
        await self._served.open()
        await answer_reports(self._nc, self._served)
        self._tasks = [
            asyncio.create_task(run()) for run in (self._feeds.watch, self._feeds.audit, self._sweep, self._beats.run)
        ]

    def drain(self) -> None:
        """End every waiting poll with a heartbeat."""
        self.draining = True
        for queue in self._served:
            queue.end_wait()

    async def close(self) -> None:
        """Stop all tasks."""
        self._feeds.close()
        await end_tasks(self._tasks)

    def reconnected(self) -> None:
        """NATS is back: anything may have been missed."""
        self._feeds.look_again()

    @property
    def is_ready(self) -> bool:
        """Whether queues can be registered here."""
        return self._feeds.has_epoch and self._nc.is_connected

    async def is_answered_by_jetstream(self, seconds: float) -> bool:
        """Whether the log can be read now."""
        try:
            await check_answers(self._nc, seconds)
        except StreamUnavailable:
            return False
        return True

    @property
    def queue_count(self) -> int:
        """How many queues live in this process."""
        return len(self._served)

    @property
    def waiting_count(self) -> int:
        """How many of them have a request waiting."""
        return sum(queue.is_waited_for for queue in self._served)

    # Registering

    def check_narrow(self, narrow: Sequence[tuple[str, str]]) -> None:
        """Refuse a narrow that queues cannot have."""
        for each in self._filters.values():
            each.check(narrow)

    async def register(
        self, caller: Caller, options: QueueOptions, idle_seconds: int, load_state: LoadState
    ) -> tuple[QueueRecord, dict[str, Any]]:
        """Read the state and make a queue of everything the state does not hold."""
        feed = await self._feeds.get(caller.realm_id)
        head = feed.head
        async with self._database.snapshot() as whole:
            reader = JoinedReader(whole)
            # What the caller was when the request came in may have changed since: the state is of one moment.
            first = together(read_snapshot(reader), self._refresh(reader, caller))
            snapshot, caller = await reader.answer(first)
            rest = together(load_state(reader, caller), self._load_memberships(reader, [caller.user_id]))
            state, numbers = await reader.answer(rest)
        record = QueueRecord(
            id=str(uuid.uuid4()),
            realm_id=caller.realm_id,
            user_id=caller.user_id,
            role=caller.role,
            epoch=feed.epoch,
            start=await feed.start_of(snapshot, head) or await self._beginning(feed),
            snapshot=snapshot,
            options=with_read_narrow(options, self._filters.values()),
            idle_seconds=idle_seconds,
            owner_id=caller.owner_id,
            knows=self._knows,
        )
        await put_record(self._nc, record)
        try:
            await self._served.add(record, feed, Memberships(snapshot, numbers[caller.user_id]))
        except QueueEnded as reason:
            raise StreamUnavailable(str(reason)) from reason
        bounds = self._database.bounds
        for queue_id in self._served.too_many_of(record, bounds.limit(QUEUES), bounds.limit(QUEUES_WITH_OWNED)):
            await self._end(queue_id)
        REGISTERED.inc()
        return record, state

    async def _beginning(self, feed: Feed) -> int:
        """The number before the first that the log still has: the start of a queue in a realm without older events."""
        info = await self._feeds.info(feed)
        return max(0, info.first_seq - 1) if info else 0

    # Queues that exist

    async def find(self, caller: Caller, queue_id: str, last_event_id: int) -> Queue:
        """The caller's queue, taken over from another process if need be; a Refusal if it is dead or not theirs."""
        queue = self._served.find(queue_id)
        # Requests share a take-over, so it may have begun at the position of another one: then once more.
        while queue is None or queue.needs_reading(last_event_id):
            queue = await self._take_overs.take_over(caller, queue_id, last_event_id)
            if queue is None:
                raise bad_queue(queue_id)
        if not queue.record.is_of(caller):
            raise bad_queue(queue_id)
        return queue

    async def delete(self, caller: Caller, queue_id: str) -> None:
        """End a queue, wherever it lives, and the request that waits on it."""
        queue = self._served.find(queue_id)
        record = queue.record if queue is not None else await find_record(self._nc, queue_id)
        if record is None or not record.is_of(caller):
            raise bad_queue(queue_id)
        await self._end(queue_id)

    async def _end(self, queue_id: str) -> None:
        await drop_record(self._nc, queue_id)
        self._served.let_go(queue_id)
        await self._served.claims.claim(queue_id)

    def is_alive(self, queue: Queue) -> bool:
        """Whether the queue still is the one that lives here."""
        return self._served.is_alive(queue)

    def head_of(self, queue: Queue) -> int:
        """The number up to which the queue has seen the log."""
        return self._served.head_of(queue)

    def is_revoked(self, queue: Queue, credential: int) -> bool:
        """Whether the log, as far as the queue has seen it, says that a credential is good for nothing."""
        return self._served.is_revoked(queue, credential)

    def keep(self, queue: Queue) -> None:
        """Put off the end of a polled queue's record, now and then."""
        self._served.keep_record(queue)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(min(SWEEP_SECONDS, self.settings.default_idle_queue_seconds))
            self._served.let_go_idle()
            await self._feeds.sweep()
