"""Continuity: can the streams be continued with the same numbers? And how a new epoch is opened when they cannot.

`inspect` compares what the streams hold with what is known to have been stored: the checkpoint in PostgreSQL, and what
this process remembers beyond it. It answers where each stream stands, or raises ContinuityBroken:
- the stream is missing, or another one of the same name stands in its place;
- an event known to be stored is gone although it is younger than the retention time, or another one has its number;
- somebody else took a number while this process was sending, so that an event of ours is missing before a later one;
- the database is another one, or a standby that was promoted without all that was published or answered (failover.py);
- its slot was moved or made by somebody else.
A stream that ends before the known event may have lost its tail in a power cut: the slot still has it, the session
refills it, and the numbers must come out the same (publisher.py).

`open_epoch` is safe against a crash between any two steps, because each start looks at everything again:
1. PostgreSQL: the new number, the checkpoint of its empty streams. A crash here: their streams are missing, which opens
   a further epoch. Web processes still serve the old epoch meanwhile, and nothing is appended to it.
2. NATS: it is noted which database is followed. A relay at an old primary, for which streams will now be missing, sees that
   and opens no epoch. Then the old streams are deleted (their subjects overlap with the new ones) and the new ones made. A
   crash in between: as above. A relay that slept through this cannot get in the way for long: it may only delete streams
   older than its own epoch, NATS refuses overlapping streams, and a stream that is missing because of it opens an epoch.
3. The epoch is announced. A crash before: the next start finds the streams as the checkpoint says and announces them.
Queues therefore only ever see an epoch whose streams exist. Replay then starts from the slot's confirmed position: all
that the slot still has goes into the new epoch, so no event committed after the announcement can be missing.
"""

import time
from typing import Any, NamedTuple

import structlog
from nats.aio.client import Client

from tertulia.events.log.buckets import check_buckets, ensure_buckets, replicate_buckets
from tertulia.events.log.epoch import EpochRecord, EpochStream, read_epoch, write_epoch
from tertulia.events.log.jetstream import StreamInfo, StreamUnavailable, create_stream, delete_stream
from tertulia.events.log.stream import (
    POS_ZERO,
    EventStream,
    Stored,
    event_stream_config,
    event_streams,
    parse_stream_name,
)
from tertulia.events.relay import checkpoint
from tertulia.events.relay.checkpoint import CONFIRMABLE, Memory, State, Watermark
from tertulia.events.relay.failover import check_descent, check_nothing_answered_is_lost, say_undone, undone_events
from tertulia.events.relay.lineage import Lineage
from tertulia.events.relay.metrics import FAILOVERS, STREAM_BYTES, STREAM_EVENTS
from tertulia.events.relay.publisher import RESERVE, ContinuityBroken, Shard
from tertulia.events.relay.source import NotedSource, Overtaken, Source, check_not_overtaken, find_source, note_source
from tertulia.kernel.settings import Settings

log = structlog.get_logger("tertulia.events.relay.continuity")


class ResumePoint(NamedTuple):
    """Where the relay goes on: nothing is missing between the write-ahead log and the streams."""

    epoch: int
    shards: dict[int, Shard]
    confirmable: int


class Continuity:
    """One relay session's view of both ends. `memory` outlives sessions."""

    def __init__(self, settings: Settings, nc: Client, pg: Any, memory: Memory, lineage: Lineage) -> None:
        self._settings = settings
        self._nc = nc
        self._pg = pg
        self._lineage = lineage
        self._noted: NotedSource | None = None
        self._waited = False
        """Whether commits waited for a standby when that was looked at last."""
        self._streams = EventStream(nc, settings.shards)
        self._memory = memory

    async def inspect(self) -> ResumePoint:
        """Where each stream stands; makes sure that the epoch is announced. The slot must be ours."""
        state = await checkpoint.find_state(self._pg)
        if state is None:
            raise ContinuityBroken("first start")
        self._noted = await find_source(self._nc)
        check_not_overtaken(self._noted, self._lineage.identity)
        source = check_descent(state, self._noted, self._lineage)
        watermarks = await checkpoint.get_watermarks(self._pg, state.epoch)
        if set(watermarks) != {CONFIRMABLE, *range(self._settings.shards)}:
            raise ContinuityBroken(f"the checkpoint of epoch {state.epoch} has shards {sorted(watermarks)}")
        confirmable = watermarks.pop(CONFIRMABLE).seq
        slot = await checkpoint.find_slot(self._pg, self._settings.slot)
        if slot is None or slot.confirmed > confirmable:
            raise ContinuityBroken(f"the slot was moved by somebody else: {slot}, we went to {confirmable}")
        announced = await read_epoch(self._nc)
        record = announced if announced and announced.epoch == state.epoch else None
        shards = {}
        made = {}
        for number, watermark in sorted(watermarks.items()):
            info, shards[number] = await self._inspect_shard(state.epoch, number, watermark, record)
            made[str(number)] = record.streams[str(number)] if record else _made(info)
        await self._check_past(state.epoch, watermarks, shards, source)
        await self._follow(state, source)
        await self._adapt(state.epoch)
        await write_epoch(self._nc, EpochRecord(state.epoch, made))
        return ResumePoint(state.epoch, shards, confirmable)

    async def _check_past(
        self, epoch: int, watermarks: dict[int, Watermark], shards: dict[int, Shard], source: Source
    ) -> None:
        """Whether what was published and answered is in the past of this database.

        What the checkpoint covers is: it was stored by a relay that read this database. A relay that still reads an old
        primary may have published since, at any place after that. What it publishes from here on takes a number that we
        are about to name, which ends this session.
        """
        for number, watermark in sorted(watermarks.items()):
            span = watermark.seq, shards[number].seq
            async for undone in undone_events(self._streams, self._lineage, source, number, epoch, span):
                if undone.timeline > self._lineage.timeline:
                    raise Overtaken(f"event {undone.seq} of shard {number} is of timeline {undone.timeline}")
                raise ContinuityBroken(
                    f"event {undone.seq} of shard {number}, at {undone.pos} of timeline {undone.timeline}, "
                    f"is not in the past of {self._lineage}"
                )
        check_nothing_answered_is_lost(source, self._lineage)

    async def _follow(self, state: State, source: Source) -> None:
        """Write down which database is followed: there first, then in NATS, and only then anything is published."""
        identity = self._lineage.identity
        if state.identity != identity:
            await checkpoint.follow(self._pg, state, identity)
        await ensure_buckets(self._nc, self._settings.nats_replicas)
        # Nobody saw how commits were answered while no relay was here: the answer to that begins anew.
        self._noted = await note_source(self._nc, identity, self._noted)
        self._waited = (await checkpoint.get_end(self._pg)).waits
        if source.timeline != identity.timeline:
            FAILOVERS.labels("kept").inc()
            log.warning("a standby was promoted, and nothing was lost", was=source.timeline, lineage=self._lineage)

    async def note_waiting(self, end: int, waits: bool) -> None:
        """Write down since when commits wait for a standby, or that they do so no more. Call it every second."""
        if self._noted is None:
            return
        since = self._noted.source.waits_since if waits else None
        # The setting reaches other sessions at another moment than ours: it counts once it was seen twice.
        if waits and self._waited and since is None:
            since = end
        self._waited = waits
        self._noted = await note_source(self._nc, self._lineage.identity, self._noted, since)

    async def _adapt(self, epoch: int) -> None:
        """Follow changed settings. A NATS that does not want to (too few servers, no room) is no reason to stand still."""
        replicas, retention = self._settings.nats_replicas, self._settings.event_retention_seconds
        try:
            await replicate_buckets(self._nc, replicas)
            for number in range(self._settings.shards):
                if await self._streams.adapt(number, epoch, retention=retention, replicas=replicas):
                    log.info("a stream follows the settings", shard=number, replicas=replicas, retention=retention)
        except StreamUnavailable as error:
            log.warning("the streams do not follow the settings", replicas=replicas, error=str(error))

    async def audit_buckets(self) -> None:
        """Whether both buckets are there. The next session makes them anew, and says there again what it follows."""
        await check_buckets(self._nc)

    async def audit(self, epoch: int, number: int, shard: Shard) -> None:
        """Whether the last event acknowledged is still there. A lost tail is not found here, but by `inspect`."""
        check_not_overtaken(await find_source(self._nc), self._lineage.identity)
        known = shard.acked
        info = await self._streams.info(number, epoch)
        if info is None:
            raise ContinuityBroken(f"{shard.stream} is missing")
        STREAM_BYTES.labels(shard.stream).set(info.bytes)
        STREAM_EVENTS.labels(shard.stream).set(info.messages)
        if info.last_seq < known.seq:
            raise TailLost(f"{shard.stream} ends at {info.last_seq}, {known.seq} was stored")
        await self._check_known(epoch, number, known)

    async def _inspect_shard(
        self, epoch: int, number: int, watermark: Watermark, record: EpochRecord | None
    ) -> tuple[StreamInfo, Shard]:
        known = max(watermark, self._memory.stored.get((epoch, number), watermark), key=lambda one: one.seq)
        info = await self._streams.info(number, epoch)
        if info is None:
            raise ContinuityBroken(f"stream of shard {number} in epoch {epoch} is missing")
        made = record.streams.get(str(number)) if record else None
        if made and made.created != info.created:
            raise ContinuityBroken(f"{info.name} was made at {info.created}, ours at {made.created}")
        start = made.first_seq - 1 if made else watermark.seq
        if info.last_seq < known.seq:
            last = await self._get_last(epoch, number, info, start)
            refill = known
            log.warning("tail lost", stream=info.name, last=info.last_seq, known=known.seq)
        else:
            kept = await self._check_known(epoch, number, known)
            last = kept if info.last_seq == known.seq else await self._get_last(epoch, number, info, start)
            await self._check_unsure(epoch, number, info)
            refill = None
        pos = last.pos if last else known.pos if info.last_seq == known.seq else POS_ZERO
        acked = Watermark(info.last_seq, pos, time.time() if info.last_seq > known.seq else known.at)
        shard = Shard(
            stream=info.name,
            seq=info.last_seq,
            pos=pos,
            timeline=self._lineage.timeline_at(pos),
            xmax=last.xmax if last else 0,
            acked=acked,
            checkpointed=watermark.seq,
            refill=refill,
        )
        return info, shard

    async def _check_known(self, epoch: int, number: int, known: Watermark) -> Stored | None:
        """The event at a number that was stored; None if it is too old to be kept, or if there never was one."""
        if known.pos == POS_ZERO:
            return None
        stored = await self._streams.get_from_leader(number, epoch, known.seq)
        if stored is None:
            if time.time() - known.at < self._settings.event_retention_seconds * 0.99:
                raise ContinuityBroken(f"event {known.seq} of shard {number} is gone before its time")
            return None
        if stored.pos != known.pos or stored.epoch != epoch:
            raise ContinuityBroken(f"event {known.seq} of shard {number} was {known.pos} and is {stored.pos}")
        return stored

    async def _check_unsure(self, epoch: int, number: int, info: StreamInfo) -> None:
        """Whether the numbers that were sent without an answer hold what was sent.

        Each publish names the number it follows. When another writer took the number of one event, that one is refused,
        but the next one, already on its way, follows the stranger's and is stored: a hole that the skip rule would hide.
        """
        for seq, pos in self._memory.unsure.pop((epoch, number), []):
            if info.first_seq <= seq <= info.last_seq:
                stored = await self._streams.get_from_leader(number, epoch, seq)
                if stored is not None and (stored.pos != pos or stored.epoch != epoch):
                    raise ContinuityBroken(f"event {seq} of shard {number} was sent as {pos} and is {stored.pos}")

    async def _get_last(self, epoch: int, number: int, info: StreamInfo, start: int) -> Stored | None:
        if info.last_seq == start:
            return None
        last = await self._streams.get_from_leader(number, epoch, info.last_seq)
        if last is None or last.epoch != epoch:
            raise ContinuityBroken(f"the last event of {info.name}, {info.last_seq}, is not ours: {last}")
        return last

    async def open_epoch(self, reason: str) -> int:
        """Leave all streams behind and begin new ones, with greater sequence numbers."""
        noted = await find_source(self._nc)
        check_not_overtaken(noted, self._lineage.identity)
        old = await checkpoint.find_state(self._pg)
        streams = await event_streams(self._nc)
        await self._say_undone(streams, noted)
        announced = await read_epoch(self._nc)
        epochs = [named[1] for one in streams if (named := parse_stream_name(one.name))]
        number = max(old.epoch if old else 0, announced.epoch if announced else 0, *epochs, 0) + 1
        bases = await self._bases(streams)
        say = log.warning if old else log.info  # the first epoch is no trouble
        say("new epoch", epoch=number, reason=reason, first=bases)
        slot = await checkpoint.find_slot(self._pg, self._settings.slot)
        confirmable = slot.confirmed if slot else 0
        identity = self._lineage.identity
        await checkpoint.begin_epoch(self._pg, old, State(number, identity), bases, confirmable)
        await ensure_buckets(self._nc, self._settings.nats_replicas)
        await note_source(self._nc, identity, noted)
        for stream in streams:
            await delete_stream(self._nc, stream.name)
        made = {}
        for shard, base in bases.items():
            config = event_stream_config(
                shard,
                number,
                first_seq=base + 1,
                retention=self._settings.event_retention_seconds,
                replicas=self._settings.nats_replicas,
            )
            made[str(shard)] = _made(await create_stream(self._nc, config))
        await write_epoch(self._nc, EpochRecord(number, made))
        return number

    async def _say_undone(self, streams: list[StreamInfo], noted: NotedSource | None) -> None:
        """If an epoch ends by a fail-over: say so, and what was announced and is not in the database."""
        if noted is None:
            return
        if self._lineage.end_of(noted.source.timeline) is not None:
            FAILOVERS.labels("ended").inc()
        undone: list[Stored] = []
        for one in streams:
            shard, epoch = parse_stream_name(one.name) or (-1, 0)
            known = (await checkpoint.get_watermarks(self._pg, epoch)).get(shard)
            after = known.seq if known else max(one.first_seq - 1, one.last_seq - RESERVE)
            span = after, one.last_seq if one.messages else 0
            undone += [
                event async for event in undone_events(self._streams, self._lineage, noted.source, shard, epoch, span)
            ]
        say_undone(undone, self._lineage)

    async def _bases(self, streams: list[StreamInfo]) -> dict[int, int]:
        """Per shard a number that is greater than any that was ever given out."""
        greatest = await checkpoint.get_greatest_sequences(self._pg)
        for (_, shard), watermark in self._memory.stored.items():
            greatest[shard] = max(greatest.get(shard, 0), watermark.seq)
        for one in streams:
            shard, _ = parse_stream_name(one.name) or (-1, 0)
            greatest[shard] = max(greatest.get(shard, 0), one.last_seq)
        # A realm may change its shard with the number of shards, so all start above the greatest of all.
        base = max(greatest.values()) + RESERVE if greatest else 0
        return dict.fromkeys(range(self._settings.shards), base)


class TailLost(Exception):
    """A stream ends before an event that it had acknowledged."""


def _made(info: StreamInfo) -> EpochStream:
    return EpochStream(info.name, info.created, info.first_seq)
