"""What the replication slot sends: the parts of the `pgoutput` protocol (version 1) that carry our events. Pure.

A transaction arrives whole, after its commit: `B`, any number of `M`, `C`. An event is a transactional message whose
prefix is its subject, `ev.<shard>.<realm>`, and whose content is `<transaction id> <JSON object>`. Nothing here looks
into the JSON.

Invariant: positions grow in commit order. A position is (commit LSN, index in the transaction) from the `B` message's
final LSN; the LSN of an `M` message itself says when it was written, not when it was committed, and must not be used.
"""

import re
from datetime import UTC, datetime
from functools import lru_cache
from struct import Struct
from typing import Final, NamedTuple

_BEGIN: Final = Struct(">QqI")  # final LSN, commit time, transaction id (its lower 32 bits)
_COMMIT: Final = Struct(">BQQq")  # flags, commit LSN, end LSN, commit time
_MESSAGE: Final = Struct(">BQ")  # flags, LSN of the message
_LENGTH: Final = Struct(">I")
_SUBJECT: Final = re.compile(r"ev\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,18})")
_XID: Final = re.compile(rb"[0-9]{1,20}")
_POSTGRES_EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC).timestamp()
_TRANSACTIONAL: Final = 1


class Begin(NamedTuple):
    commit_lsn: int
    committed_at: float  # seconds since 1970
    xid: int  # the lower 32 bits of the transaction's number


class Commit(NamedTuple):
    end_lsn: int  # first byte after the commit record: confirming this much frees the transaction


class Message(NamedTuple):
    prefix: str
    content: bytes


class Event(NamedTuple):
    shard: int
    subject: str
    xid: int
    data: bytes


class MalformedEvent(ValueError):
    """A message that claims to be an event and is none; the text says why."""


def parse(payload: bytes) -> Begin | Commit | Message | None:
    """One protocol message; None for kinds that mean nothing to us."""
    kind = payload[:1]
    if kind == b"M":
        return _message(payload)
    if kind == b"B":
        commit_lsn, committed_at, xid = _BEGIN.unpack_from(payload, 1)
        return Begin(commit_lsn, _POSTGRES_EPOCH + committed_at / 1e6, xid)
    if kind == b"C":
        return Commit(_COMMIT.unpack_from(payload, 1)[2])
    return None


def _message(payload: bytes) -> Message | None:
    flags, _ = _MESSAGE.unpack_from(payload, 1)
    if not flags & _TRANSACTIONAL:
        return None  # comes without a transaction: it has no position
    start = 1 + _MESSAGE.size
    end = payload.index(b"\0", start)
    (length,) = _LENGTH.unpack_from(payload, end + 1)
    content = end + 1 + _LENGTH.size
    return Message(payload[start:end].decode("utf-8", "replace"), payload[content : content + length])


def is_event(message: Message) -> bool:
    return message.prefix.startswith("ev.")


def parse_event(message: Message, shards: int, transaction: int) -> Event:
    """The event in a message of the transaction with that number, of 32 bits.

    MalformedEvent: somebody wrote it by hand, or with another number of shards.
    """
    shard = find_shard(message.prefix, shards)
    if shard is None:
        raise MalformedEvent(f"{message.prefix!r} is no subject of one of {shards} shards")
    xid, space, data = message.content.partition(b" ")
    if not space or not _XID.fullmatch(xid):
        raise MalformedEvent("no transaction id before the first space")
    if int(xid) & 0xFFFFFFFF != transaction:
        raise MalformedEvent(f"{int(xid)} is not the number of its transaction")
    return Event(shard, message.prefix, int(xid), data)


@lru_cache(maxsize=65_536)
def find_shard(subject: str, shards: int) -> int | None:
    """The shard of a realm's subject; None if it is no such subject."""
    match = _SUBJECT.fullmatch(subject)
    return int(match[1]) if match and int(match[1]) < shards else None


def position(commit_lsn: int, index: int) -> str:
    """Header `Pos` of an event."""
    return f"{commit_lsn:016X}-{index:06d}"


def position_key(pos: str) -> tuple[int, int]:
    """For comparing positions: unlike the text, right beyond a million events in one transaction too."""
    lsn, _, index = pos.partition("-")
    return int(lsn, 16), int(index)


def format_lsn(lsn: int) -> str:
    """As PostgreSQL writes it."""
    return f"{lsn >> 32:X}/{lsn & 0xFFFFFFFF:X}"


def parse_lsn(text: str) -> int:
    high, _, low = text.partition("/")
    return (int(high, 16) << 32) | int(low, 16)
