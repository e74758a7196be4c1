"""What clients are told of queues that cannot be served."""

from tertulia.kernel.auth import Caller
from tertulia.kernel.errors import Refusal, unauthorized


def bad_queue(queue_id: str) -> Refusal:
    """A queue that does not exist (any more), or is somebody else's."""
    return Refusal(f"Bad event queue id: {queue_id}", code="BAD_EVENT_QUEUE_ID", queue_id=queue_id)


def never_issued(event_id: int) -> Refusal:
    """An acknowledgement of an event that this queue never gave out."""
    return Refusal(f"Event {event_id} was not in this queue.")


def revoked(caller: Caller) -> Refusal:
    """A request that waited while what it was made with was revoked: as the next one with it will be refused."""
    scheme = "Basic" if caller.key_id else "Session"
    return unauthorized("You were logged out while you waited.", caller.subdomain or "tertulia", scheme=scheme)
