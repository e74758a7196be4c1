"""The two key-value buckets beside the streams: which epoch is valid, and the records of event queues."""

from typing import Any, Final

from nats.aio.client import Client

from tertulia.events.log.jetstream import STREAM_NOT_FOUND, call_api, create_stream

STATE_BUCKET: Final = "TERTULIA_STATE"
QUEUE_BUCKET: Final = "TERTULIA_QUEUES"


async def ensure_buckets(nc: Client, replicas: int = 1) -> None:
    """Make the two key-value buckets if they are missing. Any process may do this, at the same time."""
    await _ensure_bucket(nc, {**_bucket(STATE_BUCKET, replicas), "max_msgs_per_subject": 1})
    await _ensure_bucket(nc, {**_bucket(QUEUE_BUCKET, replicas), "max_msgs_per_subject": 1, "allow_msg_ttl": True})


async def _ensure_bucket(nc: Client, config: dict[str, Any]) -> None:
    if await call_api(nc, f"STREAM.INFO.{config['name']}", missing=STREAM_NOT_FOUND) is None:
        await create_stream(nc, config)


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
