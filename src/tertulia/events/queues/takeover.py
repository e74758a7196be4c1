"""Taking over a queue that lived in another process, or that fell so far behind that it is read from the log again.

The queue's record says where it began, the client says how far it has come. The memberships by which its events are judged
are read from the database as of now, and rewound to the queue's place in the log: for that, all that was committed before
must have arrived here. So a transaction with an event that nobody hears, a *barrier*, is written and waited for.

Invariants:
- `None` means that the queue is dead. Not knowing is `StreamUnavailable`: the client asks again.
- Requests for one queue share a take-over.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import NamedTuple

import msgspec
import structlog
from nats.aio.client import Client

from tertulia.events.log.jetstream import StreamInfo, StreamUnavailable
from tertulia.events.log.ranges import SeqSet
from tertulia.events.log.record import Audience, Record
from tertulia.events.log.snapshot import Snapshot
from tertulia.events.queues.arrivals import FeedEnded
from tertulia.events.queues.feed import Feed, QueueEnded, counting_reads
from tertulia.events.queues.feeds import Feeds
from tertulia.events.queues.memberships import Memberships
from tertulia.events.queues.queries import read_snapshot, transaction_id
from tertulia.events.queues.queue import Queue
from tertulia.events.queues.queue_record import FoundRecord, find_records
from tertulia.events.queues.refusals import never_issued
from tertulia.events.queues.served import ServedQueues
from tertulia.kernel.auth import Caller
from tertulia.kernel.coalesce import Coalescer
from tertulia.kernel.db import Database, Reader
from tertulia.kernel.gate import Gate
from tertulia.kernel.limits import TimeBudgets, too_often
from tertulia.kernel.threads import Lanes
from tertulia.kernel.turns import telling_turns

log = structlog.get_logger()

REFILL_LOOKS = 10
REFILL_PAUSE = 0.2
BARRIER = "mark"
"""The type of events that only tell how far the log has come."""
PACE = 0.05
"""Seconds between two reads, or two transactions with barriers: thousands of clients that come back together share a few of
them. Whoever comes alone waits for nobody."""

BURST_SECONDS = 5.0
"""So much time of the event loop somebody may use for take-overs; one takes a few thousandths of a second, or a second where a
queue is very far behind."""
SHARE = 0.05
"""How fast that comes back."""

FREE_SECONDS = 0.001
"""What every take-over costs. Reading the log for one costs more."""
READ_SECONDS = 0.00002
"""What each event costs that is read from the log, beside the turns of who reads: the NATS client reads for all, in a task of
its own. From measured 14 s of which 8 were told, for 16 times 10,000 events that were read twice."""
BYTE_SECONDS = 0.000_000_004
"""The same for each of its bytes, measured with NATS's own part: one may have a megabyte."""
OF_ONE, OF_ONE_WAITING = 10, 1000
"""So many take-overs of one person, with the accounts they own, are under way, and so many wait: what they cost is known at
their end."""
INSIDE, PATIENCE = 1000, 3.0
"""So many take-overs are under way, and so many seconds others wait for their turn."""
TOGETHER = 200
"""So many queues go through a step together: what a herd needs is read for many at once, in pieces that take milliseconds."""

LoadMemberships = Callable[[Reader, Sequence[int]], Awaitable[dict[int, dict[int, SeqSet]]]]
"""The channels of each user with the numbers that were theirs; an open end means that they belong to it now."""


class Member(NamedTuple):
    """Whose memberships are read, for which queue: two queues of one person must not share what each of them changes."""

    feed: Feed
    user_id: int
    queue_id: str


class ReadNow(NamedTuple):
    """What a user belongs to as of a snapshot, and where the log ended before."""

    snapshot: Snapshot
    head: int
    numbers: dict[int, SeqSet]


class TakeOvers:
    """Brings queues to this process."""

    def __init__(
        self,
        nc: Client,
        database: Database,
        feeds: Feeds,
        served: ServedQueues,
        load_memberships: LoadMemberships,
        *,
        limited: bool,
    ) -> None:
        """`limited`: whoever makes this process read the log again and again is refused for a while."""
        self._nc = nc
        self._database = database
        self._feeds = feeds
        self._served = served
        self._load_memberships = load_memberships
        self._records: Coalescer[str, FoundRecord] = Coalescer(self._read_records, pace=PACE, most=TOGETHER)
        self._infos: Coalescer[Feed, StreamInfo] = Coalescer(self._read_infos, pace=PACE)
        self._members: Coalescer[Member, ReadNow] = Coalescer(self._read_members, pace=PACE, most=TOGETHER)
        self._barriers: Coalescer[int, int] = Coalescer(self._write_barriers, pace=PACE)
        self._under_way: dict[tuple[str, int], asyncio.Task[Queue | None]] = {}
        self._budgets = TimeBudgets(BURST_SECONDS, SHARE) if limited else None
        self._lanes = Lanes(inside=OF_ONE, waiting=OF_ONE_WAITING, refusal=partial(too_often, 1.0))
        self._gate = Gate("take-over", inside=INSIDE, patience=PATIENCE)

    async def take_over(self, caller: Caller, queue_id: str, last_event_id: int) -> Queue | None:
        """The caller's queue, living here; None if it is dead or not theirs."""
        key = queue_id, caller.user_id
        task = self._under_way.get(key)
        if task is None:
            task = self._under_way[key] = asyncio.create_task(self._in_turn(caller, queue_id, last_event_id))
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        return await asyncio.shield(task)

    async def _in_turn(self, caller: Caller, queue_id: str, last_event_id: int) -> Queue | None:
        lane = await self._lanes.enter_as(str(caller.person_id))
        try:
            async with self._gate.enter():
                return await self._paid_for(caller, queue_id, last_event_id)
        finally:
            self._lanes.leave(lane)

    async def _paid_for(self, caller: Caller, queue_id: str, last_event_id: int) -> Queue | None:
        """A client may say that it has come further than it has, as often as it likes, and each time the log is read."""
        if self._budgets is None:
            return await self._take_over(caller, queue_id, last_event_id)
        payer = str(caller.person_id)
        if seconds := self._budgets.wait(payer):
            raise too_often(seconds)
        work = self._take_over(caller, queue_id, last_event_id)
        with counting_reads() as read:
            try:
                return await telling_turns(work, partial(self._budgets.spend, payer), FREE_SECONDS)
            finally:
                if read.events:
                    self._budgets.spend(payer, read.events * READ_SECONDS + read.bytes * BYTE_SECONDS)

    async def _take_over(self, caller: Caller, queue_id: str, last_event_id: int) -> Queue | None:
        began = time.monotonic()
        found = await self._records.load(queue_id)
        if found is None or not found.record.is_of(caller):
            return None
        record = found.record
        feed = await self._feeds.get(record.realm_id)
        if record.epoch > feed.epoch:
            self._feeds.look_again()
            raise StreamUnavailable("this process has not heard of the new epoch yet")
        if record.epoch != feed.epoch:
            return None
        after = max(record.start, last_event_id)
        if not await self._reaches(feed, queue_id, after):
            return None
        try:
            return await self._move(found, feed, after, began)
        except FeedEnded:
            if (await self._feeds.get(record.realm_id)).epoch == record.epoch:
                raise  # the client asks again
            return None

    async def _reaches(self, feed: Feed, queue_id: str, after: int) -> bool:
        """Whether the log still has all that comes after this number; refuses one that it never had."""
        info = await self._infos.load(feed)
        if info is None or info.first_seq > after + 1:
            log.warning("a queue was left for longer than the log reaches back", queue=queue_id)
            return False
        if after > info.last_seq and not await self._refilled(feed, after):
            # It may be this process that is behind: a NATS server that was cut off from the others, and has not noticed yet,
            # tells how long the log was then. What is written only now arrives here after everything that was issued anywhere.
            await self._pass_barrier(feed)
            if after >= feed.head:
                raise never_issued(after)
        return True

    async def _refilled(self, feed: Feed, seq: int) -> bool:
        """Whether the log comes to reach this number: a relay fills in what a NATS server lost of its end."""
        for _ in range(REFILL_LOOKS):
            await asyncio.sleep(REFILL_PAUSE)
            info = await self._infos.load(feed)
            if info is not None and info.last_seq >= seq:
                return True
        return False

    async def _move(self, found: FoundRecord, feed: Feed, after: int, began: float) -> Queue | None:
        """Make the queue live here, if it still lives anywhere; its record was read after the moment `began`."""
        record = found.record
        read = await self._members.load(Member(feed, record.user_id, record.id))
        assert read is not None
        await self._pass_barrier(feed)
        # The client may have heard of a membership before the database shows it: look for it in the log as well.
        start = min(after, await feed.start_of(read.snapshot, read.head))
        try:
            queue = await self._served.move_here(found, feed, Memberships(read.snapshot, read.numbers), after, start)
        except QueueEnded:
            return None
        # From here on this process hears when the queue ends. If it may have ended before, its record tells.
        if self._served.claims.was_claimed_since(record.id, began) and await self._records.load(record.id) is None:
            self._served.let_go(record.id)
            return None
        return queue

    # What many queues need at the same moment is read for all of them together.

    async def _read_records(self, queue_ids: Sequence[str]) -> dict[str, FoundRecord]:
        return await find_records(self._nc, queue_ids)

    async def _read_infos(self, feeds: Sequence[Feed]) -> dict[Feed, StreamInfo]:
        infos = {feed: await self._feeds.info(feed) for feed in feeds}
        return {feed: info for feed, info in infos.items() if info is not None}

    async def _read_members(self, wanted: Sequence[Member]) -> dict[Member, ReadNow]:
        heads = {member.feed: member.feed.head for member in wanted}
        async with self._database.snapshot() as reader:
            snapshot = await read_snapshot(reader)
            numbers = await self._load_memberships(reader, list({member.user_id for member in wanted}))
        found: dict[Member, ReadNow] = {}
        given: set[int] = set()
        for member in wanted:
            theirs = numbers[member.user_id]
            if member.user_id in given:
                theirs = {channel: some.copy() for channel, some in theirs.items()}
            given.add(member.user_id)
            found[member] = ReadNow(snapshot, heads[member.feed], theirs)
        return found

    async def _pass_barrier(self, feed: Feed) -> None:
        """Wait until the feed has everything that was committed before this call.

        The relay may be behind the database: what the queue is judged by now may be newer than events that are yet to come.
        One barrier serves all queues that are taken over at the same moment.
        """
        xid = await self._barriers.load(feed.realm_id)
        assert xid is not None
        await feed.pass_by(xid)

    async def _write_barriers(self, realm_ids: Sequence[int]) -> dict[int, int]:
        async with self._database.transaction() as tx:
            for realm_id in realm_ids:
                tx.emit(realm_id, Record(to=Audience(), type=BARRIER, event=msgspec.Raw(b"{}")))
            xid = await transaction_id(tx)
        return dict.fromkeys(realm_ids, xid)
