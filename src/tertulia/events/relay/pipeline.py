"""The relay at work: log -> streams -> checkpoint -> confirmation. One per session.

Its tasks: `_pump` reads the log and stores events, `_report` writes the checkpoint and confirms the slot, `_audit`
checks that the streams still hold what was stored; transient events are received by the NATS client. The first that
fails ends all.

At its start it writes a marker into the log. When that comes back, the slot has sent everything committed before the
session: a stream that was being refilled must be whole by then, and only then transient events may take numbers.

Invariants
- No event is published before whoever hears of it can read what it tells (visibility.py).
- An event whose position is not beyond the last one in its stream is there already and is skipped.
- What is confirmed to the slot is stored, was stored at least `confirm_after_seconds` ago, and is covered by the checkpoint.
"""

import asyncio
import time
from collections.abc import Coroutine
from contextlib import suppress
from secrets import token_hex
from typing import Any, Final

import structlog
from nats.aio.msg import Msg

from tertulia.events.log.stream import POS_ZERO
from tertulia.events.relay import checkpoint, wal
from tertulia.events.relay.connection import RelayConnection
from tertulia.events.relay.continuity import Continuity, ResumePoint
from tertulia.events.relay.in_flight import InFlightTransactions, TransactionInFlight
from tertulia.events.relay.lag import Lag
from tertulia.events.relay.metrics import DURABLE, REJECTED, STORED_AFTER, TRANSIENT
from tertulia.events.relay.publisher import Publisher
from tertulia.events.relay.replication import Replication
from tertulia.events.relay.visibility import Visibility
from tertulia.kernel.settings import Settings
from tertulia.kernel.tasks import end_tasks
from tertulia.kernel.tracing import Process

REPORT_SECONDS: Final = 1.0
TICK_SECONDS: Final = 0.25
DRAIN_SECONDS: Final = 2.0
MARKER: Final = "tertulia.relay"
# An idle slot follows a log without events in steps of this size, because each step costs a write.
IDLE_BYTES: Final = 1024 * 1024
YIELD_EVERY: Final = 256  # messages read before other tasks may run
EARLY_TRANSIENTS: Final = 1000
HEADER_ROOM: Final = 1024

log = structlog.get_logger("tertulia.events.relay.process")


def _stored(seconds: float) -> None:
    STORED_AFTER.observe(seconds)
    if Process.traces is not None:
        Process.traces.stored(seconds)


class Pipeline:
    def __init__(
        self,
        settings: Settings,
        nc: RelayConnection,
        pg: Any,
        replication: Replication,
        visibility: Visibility,
        continuity: Continuity,
        found: ResumePoint,
        lag: Lag,
    ) -> None:
        self._settings = settings
        self._nc = nc
        self._pg = pg
        self._replication = replication
        self._visibility = visibility
        self._continuity = continuity
        self._lag = lag
        self._epoch = found.epoch
        self._shards = found.shards
        self._stored_before = {number: wal.position_key(shard.pos) for number, shard in found.shards.items()}
        self._transactions = InFlightTransactions(_stored)
        self._lineage = replication.lineage
        self._publisher = Publisher(nc, found.epoch, found.shards, self._transactions, replication.lineage)
        self._transaction: TransactionInFlight | None = None
        self._commit_lsn = 0
        self._xid = 0
        self._index = 0
        self._token = token_hex(8).encode()
        self._caught_up = False
        self._early: list[Msg] = []
        self._confirmable = found.confirmable
        self._rested = 0

    async def run(self, stop: asyncio.Event, lost: asyncio.Future[None]) -> None:
        await self._publisher.start()
        await self._nc.subscribe("transient.>", cb=self._received_transient)
        await checkpoint.emit_marker(self._pg, MARKER, self._token.decode())
        stopping = asyncio.ensure_future(stop.wait())
        jobs: list[Coroutine[Any, Any, None]] = [
            self._pump(),
            self._report(),
            self._audit(),
            self._publisher.failure(),
        ]
        tasks: list[asyncio.Future[Any]] = [stopping, *map(asyncio.ensure_future, jobs)]
        try:
            done, _ = await asyncio.wait([*tasks, lost], return_when=asyncio.FIRST_COMPLETED)
            for ended in done:
                ended.result()
        finally:
            await end_tasks(tasks)
            for task in tasks:
                if not task.cancelled():
                    task.exception()  # only the first failure is raised
        await self._finish()

    @property
    def gets_through(self) -> bool:
        """Whether the streams took an event, or there was none for them to take."""
        return self._publisher.has_stored or self._is_idle

    async def _pump(self) -> None:
        read = 0
        while True:
            payload = self._replication.read()
            if payload is None:
                await self._replication.readable()
                continue
            match wal.parse(payload):
                case wal.Message() as message:
                    await self._take(message)
                    self._index += 1
                case wal.Begin(commit_lsn, committed_at, xid):
                    self._transaction = self._transactions.begin(committed_at)
                    self._commit_lsn = commit_lsn
                    self._xid = xid
                    self._index = 0
                case wal.Commit(end_lsn) if self._transaction is not None:
                    self._transactions.commit(self._transaction, end_lsn, time.monotonic())
                    self._transaction = None
            read += 1
            if read % YIELD_EVERY == 0:
                await asyncio.sleep(0)

    async def _take(self, message: wal.Message) -> None:
        if not wal.is_event(message):
            if message.prefix == MARKER and message.content == self._token:
                await self._catch_up()
            return
        try:
            event = wal.parse_event(message, self._settings.shards, self._xid)
        except wal.MalformedEvent as reason:
            REJECTED.inc()
            log.error("event rejected", reason=str(reason), lsn=wal.format_lsn(self._commit_lsn))
            return
        if (self._commit_lsn, self._index) <= self._stored_before[event.shard]:
            return
        await self._visibility.until_seen(event.xid)
        data = event.data
        if len(data) + HEADER_ROOM > self._nc.max_payload:
            # It keeps its place, empty: readers must declare the queues of its realm dead.
            REJECTED.inc()
            log.error("event too large", subject=event.subject, bytes=len(data), limit=self._nc.max_payload)
            data = b""
        pos = wal.position(self._commit_lsn, self._index)
        await self._publisher.store(
            event.shard, event.subject, data, pos=pos, xid=event.xid, transaction=self._transaction
        )
        DURABLE.inc()

    async def _catch_up(self) -> None:
        self._publisher.check_refilled()
        for shard in self._shards.values():
            if shard.pos == POS_ZERO:  # so that a transient event, which repeats the position before it, has one
                shard.pos = wal.position(self._commit_lsn, self._index)
                shard.timeline = self._lineage.timeline
        self._caught_up = True
        log.info("caught up", lsn=wal.format_lsn(self._commit_lsn))
        early, self._early = self._early, []
        for msg in early:
            await self._store_transient(msg)

    async def _received_transient(self, msg: Msg) -> None:
        if self._caught_up:
            await self._store_transient(msg)
        elif len(self._early) < EARLY_TRANSIENTS:
            self._early.append(msg)

    async def _store_transient(self, msg: Msg) -> None:
        subject = "ev" + msg.subject.removeprefix("transient")
        number = wal.find_shard(subject, self._settings.shards)
        if number is None or len(msg.data) + HEADER_ROOM > self._nc.max_payload:
            REJECTED.inc()
            return
        await self._publisher.store(number, subject, msg.data, pos="", xid=None, transaction=None)
        TRANSIENT.inc()

    async def _report(self) -> None:
        reported = 0.0
        while True:
            now = time.monotonic()
            self._publisher.check_acks(now)
            if now - reported >= REPORT_SECONDS:
                reported = now
                await self._write_checkpoint()
                self._confirm()
                await self._measure()
            await asyncio.sleep(TICK_SECONDS)

    async def _write_checkpoint(self) -> None:
        confirmable = max(self._transactions.stored_end, self._confirmable)
        if self._is_idle:
            confirmable = max(confirmable, self._replication.wal_end)
        watermarks = {
            number: shard.acked
            for number, shard in self._shards.items()
            if not shard.refill and shard.acked.seq > shard.checkpointed
        }
        if watermarks or confirmable - self._confirmable >= IDLE_BYTES:
            await checkpoint.write_watermarks(self._pg, self._epoch, watermarks, confirmable)
            self._confirmable = confirmable
            self._publisher.checkpointed(watermarks)

    def _confirm(self) -> None:
        self._rested = max(
            self._rested, self._transactions.rested(time.monotonic(), self._settings.confirm_after_seconds)
        )
        self._replication.confirm(self._confirmable if self._is_idle else min(self._rested, self._confirmable))

    @property
    def _is_idle(self) -> bool:
        """Nothing is on its way: the slot may follow the end of the log."""
        return self._caught_up and self._transaction is None and self._transactions.is_idle

    async def _measure(self) -> None:
        end, waits = await checkpoint.get_end(self._pg)
        await self._continuity.note_waiting(end, waits)
        reached = self._replication.wal_end if self._transactions.is_settled else self._transactions.stored_end
        missing_bytes = max(0, end - reached) if reached else 0
        if self._caught_up:
            self._lag.measured(missing_bytes, self._transactions.oldest_commit)
        else:  # the oldest has not come yet
            self._lag.stands_still(missing_bytes)

    async def _audit(self) -> None:
        while True:
            await asyncio.sleep(self._settings.audit_seconds)
            await self._continuity.audit_buckets()
            for number, shard in self._shards.items():
                await self._continuity.audit(self._epoch, number, shard)

    async def _finish(self) -> None:
        """A clean end: wait for what is being published and write the checkpoint, so that the successor has less to do."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._publisher.drained(), DRAIN_SECONDS)
        await self._write_checkpoint()
        self._confirm()
