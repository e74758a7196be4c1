"""What a relay tells about itself."""

from typing import Literal

from prometheus_client import Counter, Gauge

from tertulia.kernel.metrics import Durations

Role = Literal["starting", "stand-by", "active", "down"]

LAG_BYTES = Gauge("tertulia_relay_lag_bytes", "Write-ahead log that no relay has stored yet")
LAG_SECONDS = Gauge(
    "tertulia_relay_lag_seconds",
    "Age of the oldest committed transaction that is not stored yet; while no relay can work, for how long that has been so",
)
EVENTS = Counter("tertulia_relay_events", "Events stored", ["kind"])
REJECTED = Counter("tertulia_relay_rejected", "Messages in the log that claim to be events and cannot be stored")
SESSIONS = Counter("tertulia_relay_sessions", "Sessions begun; each anomaly ends one")
ACTIVE = Gauge("tertulia_relay_active", "1: this relay reads the log; 0: it stands by, or has no connection")
EPOCH = Gauge("tertulia_relay_epoch", "The epoch that this relay writes")
FAILOVERS = Counter(
    "tertulia_relay_failovers",
    "Standbys found promoted; `queues`: whether all could go on (kept) or not (ended)",
    ["queues"],
)
UNDONE = Counter("tertulia_relay_undone_events", "Events that were heard, of changes that a fail-over then undid")
STORED_AFTER = Durations(
    "tertulia_relay_store_seconds", "From the commit of a transaction to the moment at which NATS has all of its events"
)
STREAM_BYTES = Gauge("tertulia_jetstream_bytes", "Bytes in a stream of events", ["stream"])
STREAM_EVENTS = Gauge("tertulia_jetstream_events", "Events in a stream", ["stream"])
DURABLE = EVENTS.labels("durable")
TRANSIENT = EVENTS.labels("transient")
