"""The two key-value buckets beside the streams: which epoch is valid and what it follows, and the records of event queues."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec
import nats.errors
from nats.aio.client import Client

from tertulia.events.log.jetstream import (
    API_TIMEOUT,
    MESSAGE_NOT_FOUND,
    STREAM_NOT_FOUND,
    StreamUnavailable,
    call_api,
    create_stream,
    get_batch,
    request_api,
    update_stream,
)

STATE_BUCKET: Final = "TERTULIA_STATE"
QUEUE_BUCKET: Final = "TERTULIA_QUEUES"
STORED_KEY: Final = "stored"
"""Written to see whether something can be."""
STORE_SECONDS: Final = 2.0
"""How long that may take."""
FIND_SECONDS: Final = (1.0, 1.5)
"""How long an answer is waited for, each time: one that a NATS server took with it when it died never comes, and the
connection is at another server a moment later. Together they are less than a client notices."""


class Entry(NamedTuple):
    data: bytes
    revision: int
    written: datetime
    """By the clock of NATS."""


async def ensure_buckets(nc: Client, replicas: int = 1) -> None:
    """Make the two key-value buckets if they are missing. Any process may do this, at the same time."""
    await _ensure_bucket(nc, {**_bucket(STATE_BUCKET, replicas), "max_msgs_per_subject": 1})
    await _ensure_bucket(nc, {**_bucket(QUEUE_BUCKET, replicas), "max_msgs_per_subject": 1, "allow_msg_ttl": True})


async def _ensure_bucket(nc: Client, config: dict[str, Any]) -> None:
    if await call_api(nc, f"STREAM.INFO.{config['name']}", missing=[STREAM_NOT_FOUND]) is None:
        await create_stream(nc, config)


async def check_buckets(nc: Client) -> None:
    """Refuse if one of them is gone: somebody has deleted it, and nobody could register any more."""
    for bucket in (STATE_BUCKET, QUEUE_BUCKET):
        if await call_api(nc, f"STREAM.INFO.KV_{bucket}", missing=[STREAM_NOT_FOUND]) is None:
            raise StreamUnavailable(f"the bucket {bucket} is missing")


async def replicate_buckets(nc: Client, replicas: int) -> None:
    """Let both have so many replicas, however many they were made with. Only the relay does this, so that all agree."""
    for bucket in (STATE_BUCKET, QUEUE_BUCKET):
        await update_stream(nc, f"KV_{bucket}", {"num_replicas": replicas})


async def check_answers(nc: Client, seconds: float) -> None:
    """Refuse if JetStream does not answer in time: it is off, or out of reach.

    Any replica may answer. While a leader is elected nothing can be stored, but a process need not be sent away for that.
    """
    request = {"last_by_subj": f"$KV.{STATE_BUCKET}.>"}
    msg = await request_api(nc, f"$JS.API.DIRECT.GET.KV_{STATE_BUCKET}", request, seconds)
    status = (msg.headers or {}).get("Status")
    if status not in (None, "404"):
        raise StreamUnavailable(f"{STATE_BUCKET}: status {status}")


async def check_stores(nc: Client, seconds: float = STORE_SECONDS) -> None:
    """Refuse if nothing can be stored through this connection, because no leader is elected, or because its server was cut off
    from the others: that one answers for a while as if it led. Where there is no bucket yet there is nothing to lose."""
    try:
        msg = await nc.request(f"$KV.{STATE_BUCKET}.{STORED_KEY}", b"", timeout=seconds)
    except (nats.errors.Error, OSError) as error:
        if isinstance(error, nats.errors.NoRespondersError) and not await _has_state(nc, seconds):
            return
        raise StreamUnavailable(f"nothing is stored: {error!r}") from error
    _read_ack(STORED_KEY, msg.data)


async def _has_state(nc: Client, seconds: float) -> bool:
    info = await call_api(nc, f"STREAM.INFO.KV_{STATE_BUCKET}", missing=[STREAM_NOT_FOUND], seconds=seconds)
    return info is not None


async def find_entry(nc: Client, bucket: str, key: str) -> Entry | None:
    """What stands under a key, as the leader knows it: what was just written elsewhere is found."""
    first, second = FIND_SECONDS
    try:
        return await _find_entry(nc, bucket, key, first)
    except StreamUnavailable:
        return await _find_entry(nc, bucket, key, second)


async def _find_entry(nc: Client, bucket: str, key: str, seconds: float) -> Entry | None:
    answer = await call_api(
        nc,
        f"STREAM.MSG.GET.KV_{bucket}",
        {"last_by_subj": f"$KV.{bucket}.{key}"},
        missing=[STREAM_NOT_FOUND, MESSAGE_NOT_FOUND],
        seconds=seconds,
    )
    if answer is None or not answer["message"].get("data"):  # a deletion is an entry without data
        return None
    message = answer["message"]
    return Entry(msgspec.convert(message["data"], bytes), message["seq"], datetime.fromisoformat(message["time"]))


async def find_entries(nc: Client, bucket: str, keys: Sequence[str]) -> dict[str, Entry]:
    """What stands under many keys, as the leader knows it, by two requests.

    Any replica answers to a direct get, also one that is behind. So the leader is asked before how far the bucket has come, and
    the answer must have come as far; else the leader is asked for each key.
    """
    first, second = FIND_SECONDS
    try:
        found = await _find_entries(nc, bucket, keys, first)
    except StreamUnavailable:
        found = await _find_entries(nc, bucket, keys, second)
    if found is not None:
        return found
    each = {key: await find_entry(nc, bucket, key) for key in keys}
    return {key: entry for key, entry in each.items() if entry is not None}


async def _find_entries(nc: Client, bucket: str, keys: Sequence[str], seconds: float) -> dict[str, Entry] | None:
    """None: whoever answered may not know all that was written."""
    info = await call_api(nc, f"STREAM.INFO.KV_{bucket}", missing=[STREAM_NOT_FOUND], seconds=seconds)
    if info is None:
        return {}
    prefix = f"$KV.{bucket}."
    request = {"multi_last": [prefix + key for key in keys], "batch": len(keys)}
    messages, end = await get_batch(nc, f"KV_{bucket}", request, seconds)
    if info["config"]["num_replicas"] > 1 and not reaches(end, info["state"]["last_seq"]):
        return None
    found = {}
    before = "0"
    for msg in messages:
        headers = msg.headers or {}
        if headers["Nats-Last-Sequence"] != before:
            break
        before = headers["Nats-Sequence"]
        if msg.data:  # a deletion is an entry without data
            written = datetime.fromisoformat(headers["Nats-Time-Stamp"])
            found[headers["Nats-Subject"].removeprefix(prefix)] = Entry(msg.data, int(before), written)
    if end.get("Nats-Last-Sequence", "0") != before:
        raise StreamUnavailable(f"{bucket}: a reconnection cost a part of a batch")
    return found


def reaches(end: Mapping[str, str], last_seq: int) -> bool:
    """Whether a replica whose batch ended with these headers had come as far as this number (pure). One that found nothing
    does not tell."""
    return int(end.get("Nats-UpTo-Sequence", -1)) >= last_seq


async def put_entry(nc: Client, bucket: str, key: str, data: bytes, revision: int) -> int:
    """Write under a key whose last revision is this one (0: there is none). A concurrent change makes this fail."""
    headers = {"Nats-Expected-Last-Subject-Sequence": str(revision)}
    try:
        msg = await nc.request(f"$KV.{bucket}.{key}", data, timeout=API_TIMEOUT, headers=headers)
    except (nats.errors.Error, OSError) as error:
        raise StreamUnavailable(f"writing {key}: {error!r}") from error
    return _read_ack(key, msg.data)


def _read_ack(key: str, data: bytes) -> int:
    """The revision under which something was stored."""
    answer = msgspec.json.decode(data)
    if "seq" not in answer or answer.get("error"):
        raise StreamUnavailable(f"writing {key}: {answer}")
    written: int = answer["seq"]
    return written


def _bucket(bucket: str, replicas: int) -> dict[str, Any]:
    return {
        "name": f"KV_{bucket}",
        "subjects": [f"$KV.{bucket}.>"],
        "storage": "file",
        "discard": "new",
        "allow_rollup_hdrs": True,
        "deny_delete": True,
        "allow_direct": True,
        "num_replicas": replicas,
    }
