"""Whether JetStream is on and stores something: a full disk stops it, and room alone does not bring it back."""

import uuid

from nats.aio.client import Client

from tertulia.cli.errors import CommandFailed
from tertulia.events.log.buckets import QUEUE_BUCKET
from tertulia.events.log.jetstream import STREAM_NOT_FOUND, StreamUnavailable, call_api
from tertulia.events.queues.queue_record import drop_record

OFF = (
    "JetStream is off. If the log of nats-server says `no space left on device`, make room and restart nats-server: it does"
    " not come back by itself. If it was never on, nats-server needs a `jetstream` block in its configuration"
)
STORES_NOTHING = "JetStream stores nothing: make room for it, or raise its `max_file_store`, and restart nats-server"


async def look_at_jetstream(nc: Client) -> int:
    """How many streams there are."""
    try:
        account = await call_api(nc, "INFO")
        bucket = await call_api(nc, f"STREAM.INFO.KV_{QUEUE_BUCKET}", missing=[STREAM_NOT_FOUND])
    except StreamUnavailable as reason:
        raise CommandFailed(f"{OFF} ({reason})") from reason
    if bucket is not None:  # a new installation has none
        try:
            await drop_record(nc, str(uuid.uuid4()))  # of no queue: it expires within a minute
        except StreamUnavailable as reason:
            raise CommandFailed(f"{STORES_NOTHING} ({reason})") from reason
    return int(account["streams"]) if account else 0
