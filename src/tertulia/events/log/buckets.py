"""The two key-value buckets beside the streams: which epoch is valid and what it follows, and the records of event queues."""

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
    request_api,
    update_stream,
)

STATE_BUCKET: Final = "TERTULIA_STATE"
QUEUE_BUCKET: Final = "TERTULIA_QUEUES"
FIND_SECONDS: Final = (1.0, 1.5)
"""How long an answer is waited for, each time: one that a NATS server took with it when it died never comes, and the
connection is at another server a moment later. Together they are less than a client notices."""


class Entry(NamedTuple):
    data: bytes
    revision: int


async def ensure_buckets(nc: Client, replicas: int = 1) -> None:
    """Make the two key-value buckets if they are missing. Any process may do this, at the same time."""
    await _ensure_bucket(nc, {**_bucket(STATE_BUCKET, replicas), "max_msgs_per_subject": 1})
    await _ensure_bucket(nc, {**_bucket(QUEUE_BUCKET, replicas), "max_msgs_per_subject": 1, "allow_msg_ttl": True})


async def _ensure_bucket(nc: Client, config: dict[str, Any]) -> None:
    if await call_api(nc, f"STREAM.INFO.{config['name']}", missing=[STREAM_NOT_FOUND]) is None:
        await create_stream(nc, config)


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
    return Entry(msgspec.convert(answer["message"]["data"], bytes), answer["message"]["seq"])


async def put_entry(nc: Client, bucket: str, key: str, data: bytes, revision: int) -> int:
    """Write under a key whose last revision is this one (0: there is none). A concurrent change makes this fail."""
    headers = {"Nats-Expected-Last-Subject-Sequence": str(revision)}
    try:
        msg = await nc.request(f"$KV.{bucket}.{key}", data, timeout=API_TIMEOUT, headers=headers)
    except (nats.errors.Error, OSError) as error:
        raise StreamUnavailable(f"writing {key}: {error!r}") from error
    answer = msgspec.json.decode(msg.data)
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
