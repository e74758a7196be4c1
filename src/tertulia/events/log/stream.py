"""The event streams in JetStream: names, creation, and every way of reading them.

One stream per shard and epoch, `EV_<shard>_<epoch>`, holds the subjects `ev.<shard>.<realm>`. What is stored is
republished on `live.<shard>.<realm>` with its sequence number. The relay is the only writer (see
relay/publisher.py); web processes read through `EventStream`.

Invariants:
- Direct gets may be answered by a replica that is behind. For the end of the log that is fine: readers audit. A range that
  is read is whole all the same, or the reader is told that it is not (`read`). The relay asks the leader
  (`get_from_leader`, `info`).
- As in jetstream.py, `None` means that the server said there is none.
"""

import asyncio
import re
import time
from base64 import b64decode
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg

from tertulia.events.log.jetstream import (
    MESSAGE_NOT_FOUND,
    STREAM_NOT_FOUND,
    StreamInfo,
    StreamUnavailable,
    call_api,
    get_batch,
    list_streams,
    request_api,
    stream_info,
    update_stream,
)

POS_ZERO: Final = "0" * 16 + "-" + "0" * 6  # sorts before every real position
BATCH: Final = 256
BATCH_BYTES: Final = 1024 * 1024
"""About: the event that comes to it is the last of a batch. Events that others hear come by the same connection, after it, and
all of a batch is in memory: an event may have a megabyte, and 256 of these would be 270 MB."""
WHOLE_SECONDS: Final = 5.0
"""How long a reader waits for replicas that are behind: a client waits longer."""
ASK_AGAIN_SECONDS: Final = 0.2
LASTS_CHUNK: Final = 1000  # the server refuses multi_last answers of more than 1,024 subjects
COMPRESSION: Final = "s2"  # one event can be a megabyte of HTML, and is kept for days
_STREAM_NAME = re.compile(r"EV_(\d+)_(\d+)")


class EventsGone(StreamUnavailable):
    """The log had these events and does not keep them any more: whoever needs them waits in vain."""


class Stored(msgspec.Struct, frozen=True):
    """One event as it stands in a stream. `data` is empty when the event was too large to be stored."""

    seq: int
    subject: str
    pos: str
    epoch: int
    xid: int | None
    xmax: int
    data: bytes
    timeline: int = 0  # of PostgreSQL's log, which `pos` is a position of; 0: written before it was told
    committed: float = 0.0  # when, by PostgreSQL's clock; 0: it is of no transaction, or nobody told
    previous: int = -1  # sequence of the event before it on the same subject; known for republished ones only


def stream_name(shard: int, epoch: int) -> str:
    return f"EV_{shard}_{epoch}"


def parse_stream_name(name: str) -> tuple[int, int] | None:
    """(shard, epoch) of an event stream's name."""
    match = _STREAM_NAME.fullmatch(name)
    return (int(match[1]), int(match[2])) if match else None


def event_subject(shard: int, realm_id: int) -> str:
    return f"ev.{shard}.{realm_id}"


def live_subject(shard: int, realm_id: int) -> str:
    return f"live.{shard}.{realm_id}"


def transient_subject(shard: int, realm_id: int) -> str:
    return f"transient.{shard}.{realm_id}"


def event_stream_config(shard: int, epoch: int, *, first_seq: int, retention: float, replicas: int) -> dict[str, Any]:
    return {
        "name": stream_name(shard, epoch),
        "subjects": [f"ev.{shard}.>"],
        "storage": "file",
        "retention": "limits",
        "discard": "old",
        "max_age": int(retention * 1e9),
        "num_replicas": replicas,
        "allow_direct": True,
        "first_seq": first_seq,
        "compression": COMPRESSION,
        "republish": {"src": f"ev.{shard}.>", "dest": f"live.{shard}.>"},
    }


async def event_streams(nc: Client) -> list[StreamInfo]:
    """Every event stream of every epoch that exists."""
    return [one for one in await list_streams(nc) if parse_stream_name(one.name)]


def parse_live(msg: Msg) -> Stored:
    """An event that arrived by republish."""
    headers = msg.headers or {}
    previous = int(headers.get("Nats-Last-Sequence", -1))
    return _stored(int(headers["Nats-Sequence"]), headers["Nats-Subject"], headers, msg.data, previous)


class EventStream:
    """Read access to the event streams; one per NATS connection, used by any number of tasks."""

    def __init__(self, nc: Client, shards: int) -> None:
        self.nc = nc
        self.shards = shards

    async def info(self, shard: int, epoch: int) -> StreamInfo | None:
        """The stream as its leader knows it; None if there is no such stream."""
        name = stream_name(shard, epoch)
        answer = await call_api(self.nc, f"STREAM.INFO.{name}", missing=[STREAM_NOT_FOUND])
        return None if answer is None else stream_info(answer)

    async def adapt(self, shard: int, epoch: int, *, retention: float, replicas: int) -> bool:
        """Give a stream that was made with other settings, or by an older version, those of today; whether it had others."""
        config = event_stream_config(shard, epoch, first_seq=0, retention=retention, replicas=replicas)
        wanted = {key: config[key] for key in ("compression", "max_age", "num_replicas")}
        return await update_stream(self.nc, config["name"], wanted)

    async def get(self, shard: int, epoch: int, seq: int) -> Stored | None:
        return await self._direct(stream_name(shard, epoch), {"seq": seq})

    async def last(self, shard: int, epoch: int, subject: str | None = None) -> Stored | None:
        """The last event of a subject, or of the whole stream."""
        return await self._direct(stream_name(shard, epoch), {"last_by_subj": subject or f"ev.{shard}.>"})

    async def get_from_leader(self, shard: int, epoch: int, seq: int) -> Stored | None:
        """The event at `seq`, never from a replica that is behind."""
        name = stream_name(shard, epoch)
        answer = await call_api(self.nc, f"STREAM.MSG.GET.{name}", {"seq": seq}, missing=[MESSAGE_NOT_FOUND])
        return None if answer is None else _from_api(answer["message"])

    async def read(self, shard: int, epoch: int, subject: str, after: int, until: int) -> AsyncIterator[Stored]:
        """The events of one subject with `after < seq <= until`, in order: all up to `until`, or an exception.

        `until` must be the number of an event of the subject, which is how a replica that is behind is known. It is asked
        again for a while: it catches up, or another one answers.
        """
        deadline = time.monotonic() + WHOLE_SECONDS
        while after < until:
            reached = after
            request = {
                "seq": after + 1,
                "next_by_subj": subject,
                "batch": min(BATCH, until - after),
                "max_bytes": BATCH_BYTES,
            }
            for stored in _unbroken(await self._batch(stream_name(shard, epoch), request)):
                if stored.seq > until:
                    break
                yield stored
                after = stored.seq
            if after > reached:
                deadline = time.monotonic() + WHOLE_SECONDS
                continue
            await self._check_kept(shard, epoch, until)
            if time.monotonic() > deadline:
                raise StreamUnavailable(
                    f"{subject} was read up to {after}: all replicas that answer end before {until}"
                )
            await asyncio.sleep(ASK_AGAIN_SECONDS)

    async def _check_kept(self, shard: int, epoch: int, seq: int) -> None:
        """Tell what was removed from what is yet to come."""
        info = await self.info(shard, epoch)
        if info is None or info.first_seq > seq:
            raise EventsGone(f"event {seq} of shard {shard} in epoch {epoch} is kept no more")

    async def lasts(self, shard: int, epoch: int, subjects: Sequence[str]) -> dict[str, int]:
        """The last sequence of each subject that has events."""
        name = stream_name(shard, epoch)
        found: dict[str, int] = {}
        for start in range(0, len(subjects), LASTS_CHUNK):
            chunk = list(subjects[start : start + LASTS_CHUNK])
            for msg in await self._batch(name, {"multi_last": chunk, "batch": len(chunk)}):
                headers = msg.headers or {}
                found[headers["Nats-Subject"]] = int(headers["Nats-Sequence"])
        return found

    async def _direct(self, name: str, request: dict[str, Any]) -> Stored | None:
        msg = await request_api(self.nc, f"$JS.API.DIRECT.GET.{name}", request)
        status = (msg.headers or {}).get("Status")
        if status == "404":
            return None
        if status is not None:
            raise StreamUnavailable(f"direct get from {name}: status {status}")
        return _from_direct(msg)

    async def _batch(self, name: str, request: dict[str, Any]) -> list[Msg]:
        return (await get_batch(self.nc, name, request)).messages


def _unbroken(batch: Iterable[Msg]) -> Iterator[Stored]:
    """The events of a batch before the first hole: a reconnection may cost some, and each names the one before it."""
    before = 0
    for msg in batch:
        if int((msg.headers or {}).get("Nats-Last-Sequence", before)) != before:
            return
        stored = _from_direct(msg)
        yield stored
        before = stored.seq


def _from_direct(msg: Msg) -> Stored:
    headers = msg.headers or {}
    return _stored(int(headers["Nats-Sequence"]), headers["Nats-Subject"], headers, msg.data, -1)


def _from_api(message: dict[str, Any]) -> Stored:
    headers = dict(_header_lines(b64decode(message.get("hdrs", ""))))
    return _stored(message["seq"], message["subject"], headers, b64decode(message.get("data", "")), -1)


def _header_lines(raw: bytes) -> Iterable[tuple[str, str]]:
    for line in raw.decode().split("\r\n")[1:]:
        name, colon, value = line.partition(":")
        if colon:
            yield name.strip(), value.strip()


def _stored(seq: int, subject: str, headers: dict[str, str], data: bytes, previous: int) -> Stored:
    # A message without our headers was not written by the relay; position zero makes every check on it fail.
    xid = headers.get("Xid")
    return Stored(
        seq=seq,
        subject=subject,
        pos=headers.get("Pos", POS_ZERO),
        epoch=int(headers.get("Epoch", 0)),
        xid=int(xid) if xid else None,
        xmax=int(headers.get("Xmax", 0)),
        data=data,
        timeline=int(headers.get("Timeline", 0)),
        committed=float(headers.get("Committed", 0.0)),
        previous=previous,
    )
