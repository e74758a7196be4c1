"""The epoch record: which event streams are the valid ones.

It lives in the key-value bucket TERTULIA_STATE under `epoch`. The relay writes it, and only after the streams it names
exist; web processes watch it. A queue of an older epoch is dead.

Lifecycle of a watch: `EpochWatch.run()` subscribes to the key, reads it, and reads it again after every reconnection
and every few seconds, because a published change can be missed. `current` is None until the first successful read.
The number never goes back: an answer with a smaller one comes from a replica or a zombie and is ignored.
"""

import asyncio
from collections.abc import Callable
from typing import Final

import msgspec
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg

from tertulia.events.log.buckets import STATE_BUCKET, find_entry, put_entry
from tertulia.events.log.jetstream import StreamUnavailable

EPOCH_KEY: Final = "epoch"
EPOCH_SUBJECT: Final = f"$KV.{STATE_BUCKET}.{EPOCH_KEY}"
log = structlog.get_logger("tertulia.events.log.epoch")


class EpochStream(msgspec.Struct, frozen=True):
    name: str
    created: str
    first_seq: int = 1  # where the epoch began in this stream


class EpochRecord(msgspec.Struct, frozen=True):
    epoch: int
    streams: dict[str, EpochStream]  # by shard number, as text


_decoder = msgspec.json.Decoder(EpochRecord)


async def read_epoch(nc: Client) -> EpochRecord | None:
    """The announced epoch; None if there is none, StreamUnavailable if that cannot be known."""
    found = await _read(nc)
    return found[0] if found else None


async def write_epoch(nc: Client, record: EpochRecord) -> None:
    """Announce `record`. A greater epoch is never overwritten; a concurrent change makes this fail."""
    found = await _read(nc)
    revision = 0
    if found:
        announced, revision = found
        if announced == record:
            return
        if announced.epoch > record.epoch:
            raise StreamUnavailable(f"epoch {announced.epoch} is announced already, not writing {record.epoch}")
    await put_entry(nc, STATE_BUCKET, EPOCH_KEY, msgspec.json.encode(record), revision)


class EpochWatch:
    """Keeps `current` up to date and calls `on_change` for each new record (and for the first)."""

    def __init__(self, nc: Client, interval: float, on_change: Callable[[EpochRecord], None] | None = None) -> None:
        self.current: EpochRecord | None = None
        self._nc = nc
        self._interval = interval
        self._on_change = on_change
        self._changed = asyncio.Event()
        self._wake = asyncio.Event()

    async def run(self) -> None:
        """Watch until cancelled."""
        sub = await self._nc.subscribe(EPOCH_SUBJECT, cb=self._pushed)
        try:
            while True:
                self._wake.clear()
                await self.refresh()
                try:
                    await asyncio.wait_for(self._wake.wait(), self._interval)
                except TimeoutError:
                    pass
        finally:
            if self._nc.is_connected:
                await sub.unsubscribe()

    async def refresh(self) -> None:
        """Read the record now; what cannot be read now stays as it is."""
        try:
            record = await read_epoch(self._nc)
        except StreamUnavailable as reason:
            log.debug("epoch not readable", reason=str(reason))
            return
        if record is not None:
            self._take(record)

    def reconnected(self) -> None:
        """Call on reconnection to NATS: a change may have been missed."""
        self._wake.set()

    async def wait(self, newer_than: int = 0) -> EpochRecord:
        """The current record once its epoch is greater than `newer_than`."""
        while self.current is None or self.current.epoch <= newer_than:
            self._changed.clear()
            await self._changed.wait()
        return self.current

    async def _pushed(self, _: Msg) -> None:
        # A push is a hint only: the value is read from the leader, so that every change comes by one way.
        self._wake.set()

    def _take(self, record: EpochRecord) -> None:
        if record == self.current or (self.current is not None and record.epoch < self.current.epoch):
            return
        self.current = record
        self._changed.set()
        if self._on_change is not None:
            self._on_change(record)


async def _read(nc: Client) -> tuple[EpochRecord, int] | None:
    entry = await find_entry(nc, STATE_BUCKET, EPOCH_KEY)
    return None if entry is None else (_decoder.decode(entry.data), entry.revision)
