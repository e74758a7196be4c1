"""The one writer of the event streams: many publishes in flight, each naming the sequence it expects to follow.

Concurrency: `store` is called by the reader of the log and by the receiver of transient events. From the choice of the
sequence number to the bytes in the connection's buffer it does not yield, so the order of numbers is the order on the
wire. Acknowledgements of a stream come back in that order.

Lifecycle: one per session, on a connection that never reconnects. The first acknowledgement that is late, wrong or an
error ends the session (`PublishFailed`); what was stored meanwhile is found out by the next one.
"""

import asyncio
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Final

import msgspec
from nats.aio.msg import Msg

from tertulia.events.log.jetstream import ApiError
from tertulia.events.relay.checkpoint import Watermark
from tertulia.events.relay.connection import RelayConnection, encode_publish
from tertulia.events.relay.in_flight import InFlightTransactions, TransactionInFlight
from tertulia.events.relay.lineage import Lineage
from tertulia.events.relay.wal import position_key

WINDOW: Final = 512
WINDOW_BYTES: Final = 32 * 1024 * 1024
CRLF: Final = "\r\n"
ACK_SECONDS: Final = 5.0
# No stream runs further than this ahead of its checkpoint, so a new epoch that starts this far above the checkpoint
# starts above every sequence number that anybody can have seen.
RESERVE: Final = 100_000


class PublishFailed(Exception):
    """The stream did not take an event as expected."""


class ContinuityBroken(Exception):
    """The streams cannot be continued with the same numbers; the text says why. Only a new epoch helps."""


class _Ack(msgspec.Struct):
    stream: str = ""
    seq: int = 0
    error: ApiError | None = None


@dataclass(slots=True)
class _Sent:
    seq: int
    pos: str
    transaction: TransactionInFlight | None
    at: float
    size: int


@dataclass(slots=True)
class Shard:
    """Where one stream stands."""

    stream: str
    seq: int  # of the last event sent
    pos: str
    timeline: int  # of `pos`
    xmax: int
    acked: Watermark
    checkpointed: int
    refill: Watermark | None = None  # what stood in the stream before its tail was lost, until it is there again
    reply: str = ""  # where its acknowledgements go
    sent: deque[_Sent] = field(default_factory=deque)


_ack_decoder = msgspec.json.Decoder(_Ack)


class Publisher:
    def __init__(
        self,
        nc: RelayConnection,
        epoch: int,
        shards: dict[int, Shard],
        transactions: InFlightTransactions,
        lineage: Lineage,
    ) -> None:
        self.epoch = epoch
        self._lineage = lineage
        self.shards = shards
        self.has_stored = False
        self._nc = nc
        self._transactions = transactions
        self._in_flight = 0
        self._bytes = 0
        self._room = asyncio.Event()
        self._failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        inbox = nc.new_inbox()
        for number, shard in shards.items():
            shard.reply = f"{inbox}.{number}"
        self._replies = f"{inbox}.*"

    async def start(self) -> None:
        await self._nc.subscribe(self._replies, cb=self._acknowledged)

    async def failure(self) -> None:
        """Raises as soon as something went wrong."""
        await self._failed

    @property
    def _is_full(self) -> bool:
        return self._in_flight >= WINDOW or self._bytes >= WINDOW_BYTES

    async def store(
        self,
        number: int,
        subject: str,
        data: bytes,
        *,
        pos: str,
        xid: int | None,
        transaction: TransactionInFlight | None,
    ) -> None:
        """Append an event to its stream. `pos` empty: transient, it stands where the event before it stands."""
        shard = self.shards[number]
        while self._is_full or shard.seq - shard.checkpointed >= RESERVE:
            self._room.clear()
            await self._room.wait()
        if pos:
            shard.pos, shard.timeline = pos, self._lineage.timeline_at(pos)
        if xid is not None and xid > shard.xmax:
            shard.xmax = xid
        headers = (
            f"NATS/1.0\r\nNats-Expected-Last-Sequence: {shard.seq}\r\nNats-Expected-Stream: {shard.stream}\r\n"
            f"Pos: {shard.pos}\r\nTimeline: {shard.timeline}\r\nEpoch: {self.epoch}\r\nXmax: {shard.xmax}\r\n"
            f"{'' if xid is None else f'Xid: {xid}{CRLF}'}"
            f"{'' if transaction is None else f'Committed: {transaction.committed_at:.4f}{CRLF}'}\r\n"
        )
        shard.seq += 1
        if shard.refill:
            _check_refill(shard, shard.refill)
        if transaction is not None:
            transaction.unacked += 1
        shard.sent.append(_Sent(shard.seq, shard.pos, transaction, time.monotonic(), len(data)))
        self._in_flight += 1
        self._bytes += len(data)
        await self._nc.put(encode_publish(subject, shard.reply, headers.encode(), data))

    async def drained(self) -> None:
        """Until nothing is in flight."""
        while self._in_flight:
            self._room.clear()
            await self._room.wait()

    def check_refilled(self) -> None:
        """Call when the slot has sent all it has: whatever is still missing then is lost."""
        for shard in self.shards.values():
            if shard.refill:
                raise ContinuityBroken(f"{shard.stream} lost its tail at {shard.seq} and the slot cannot replay it")

    def check_acks(self, now: float) -> None:
        for shard in self.shards.values():
            if shard.sent and now - shard.sent[0].at > ACK_SECONDS:
                raise PublishFailed(f"no acknowledgement for {shard.stream} {shard.sent[0].seq}")

    def checkpointed(self, watermarks: dict[int, Watermark]) -> None:
        for number, watermark in watermarks.items():
            self.shards[number].checkpointed = watermark.seq
        self._room.set()

    async def _acknowledged(self, msg: Msg) -> None:
        shard = self.shards[int(msg.subject.rpartition(".")[2])]
        ack = _ack_decoder.decode(msg.data) if msg.data else _Ack(error=ApiError(description=f"{msg.headers}"))
        if ack.error or not shard.sent or ack.seq != shard.sent[0].seq or ack.stream != shard.stream:
            if not self._failed.done():
                self._failed.set_exception(PublishFailed(f"{shard.stream}: {ack}"))
            return
        self.has_stored = True
        sent = shard.sent.popleft()
        shard.acked = Watermark(sent.seq, sent.pos, time.time())
        self._in_flight -= 1
        self._bytes -= sent.size
        if sent.transaction is not None:
            self._transactions.acknowledged(sent.transaction, time.monotonic())
        self._room.set()


def _check_refill(shard: Shard, known: Watermark) -> None:
    """The events that are replayed must get the numbers they had."""
    if shard.pos == known.pos and shard.seq == known.seq:
        shard.refill = None
    elif shard.seq >= known.seq or position_key(shard.pos) >= position_key(known.pos):
        raise ContinuityBroken(f"{shard.stream} {shard.seq} is {shard.pos}, but {known.seq} was {known.pos}")
