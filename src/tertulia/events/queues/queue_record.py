"""Queue records in JetStream's key-value store: any process of any node can serve any queue.

A record says who listens to what, from which snapshot and position. The client brings its own position with each poll,
so a record is written once, and again only to put off its end: it expires by itself when nobody polls.
"""

import time
from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec
import nats.errors
from nats.aio.client import Client

from tertulia.events.log.buckets import QUEUE_BUCKET, Entry, find_entries, find_entry
from tertulia.events.log.jetstream import STREAM_NOT_FOUND, StreamUnavailable, call_api
from tertulia.events.log.snapshot import Snapshot
from tertulia.events.queues.options import QueueOptions
from tertulia.kernel.auth import Caller

PUT_SECONDS: Final = 5.0
PORTION: Final = 500
GRACE_SECONDS: Final = 60
"""How much longer than its idle time a record lives: the process that serves the queue decides first."""


class QueueRecord(msgspec.Struct, frozen=True):
    """Everything a process needs to take over a queue."""

    id: str
    realm_id: int
    user_id: int
    role: int
    epoch: int
    start: int
    snapshot: Snapshot
    options: QueueOptions
    idle_seconds: int
    owner_id: int | None = None
    """Whose the account is that listens, if it has an owner."""
    knows: str = ""
    """Which kinds of events the program knows that registered it (kinds.py); of older programs: nothing."""

    def is_of(self, caller: Caller) -> bool:
        """Whether the queue is the caller's: it ends with the role it was registered in."""
        return self.user_id == caller.user_id and self.role == caller.role


class FoundRecord(NamedTuple):
    """A record, and how many seconds ago it was written; below zero if the clock of NATS is ahead of ours."""

    record: QueueRecord
    age: float


_decoder = msgspec.json.Decoder(QueueRecord)


async def put_record(nc: Client, record: QueueRecord) -> None:
    """Write a queue's record, to live for its idle time from now."""
    headers = {"Nats-TTL": f"{record.idle_seconds + GRACE_SECONDS}s"}
    await _publish(nc, record.id, msgspec.json.encode(record), headers)


async def drop_record(nc: Client, queue_id: str) -> None:
    """Delete a queue's record."""
    await _publish(nc, queue_id, b"", {"KV-Operation": "DEL", "Nats-TTL": f"{GRACE_SECONDS}s"})


async def find_record(nc: Client, queue_id: str) -> QueueRecord | None:
    """A queue's record as the leader knows it: one that was just written elsewhere is found."""
    if not _is_queue_id(queue_id):
        return None
    entry = await find_entry(nc, QUEUE_BUCKET, queue_id)
    return None if entry is None else _decoder.decode(entry.data)


async def find_records(nc: Client, queue_ids: Sequence[str]) -> dict[str, FoundRecord]:
    """The same for many, with their ages."""
    possible = [queue_id for queue_id in queue_ids if _is_queue_id(queue_id)]
    if len(possible) == 1:
        entry = await find_entry(nc, QUEUE_BUCKET, possible[0])
        return {} if entry is None else {possible[0]: _found(entry)}
    entries = await find_entries(nc, QUEUE_BUCKET, possible) if possible else {}
    return {queue_id: _found(entry) for queue_id, entry in entries.items()}


async def list_records(nc: Client) -> list[FoundRecord]:
    """All there are, in portions: for whoever looks after the server."""
    asked = {"subjects_filter": f"$KV.{QUEUE_BUCKET}.>"}
    info = await call_api(nc, f"STREAM.INFO.KV_{QUEUE_BUCKET}", asked, missing=[STREAM_NOT_FOUND])
    names = [] if info is None else [name.rpartition(".")[2] for name in info["state"].get("subjects") or ()]
    found: list[FoundRecord] = []
    for start in range(0, len(names), PORTION):
        found += (await find_records(nc, names[start : start + PORTION])).values()
    return found


def _found(entry: Entry) -> FoundRecord:
    return FoundRecord(_decoder.decode(entry.data), time.time() - entry.written.timestamp())


def _is_queue_id(text: str) -> bool:
    # Nothing else may become part of a subject.
    return len(text) == 36 and all(part.isalnum() for part in text.split("-")) and text.isascii()


def _subject(queue_id: str) -> str:
    return f"$KV.{QUEUE_BUCKET}.{queue_id}"


async def _publish(nc: Client, queue_id: str, data: bytes, headers: dict[str, str]) -> None:
    try:
        answer = await nc.request(_subject(queue_id), data, timeout=PUT_SECONDS, headers=headers)
    except (nats.errors.Error, OSError) as error:
        raise StreamUnavailable(f"queue record: {error!r}") from error
    if msgspec.json.decode(answer.data).get("error"):
        raise StreamUnavailable(f"queue record: {answer.data!r}")
