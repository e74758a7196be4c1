"""What clients see of event queues themselves."""

from typing import Literal

from tertulia.events.wire import Event


class HeartbeatEvent(Event, frozen=True, kw_only=True):
    """Nothing happened for a while. It keeps a waiting connection alive, and clients ignore it."""

    type: Literal["heartbeat"]


KEYS = {
    "last_event_id": int,
    "idle_queue_timeout_secs": int,
}
