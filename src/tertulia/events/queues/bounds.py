"""How many event queues somebody may have."""

from tertulia.kernel.bounds import Bound

QUEUES = Bound(
    name="event_queues",
    what="event queues in each web process",
    of="account",
    limit=100,
    tables=(),
    refusal="",
    instead="the one that was not polled for the longest time ends (`BAD_EVENT_QUEUE_ID`)",
)
QUEUES_WITH_OWNED = Bound(
    name="event_queues_with_owned",
    what="event queues in each web process, with those of the accounts one owns",
    of="person",
    limit=500,
    tables=(),
    refusal="",
    instead=QUEUES.instead,
)
"""The one that was not polled for the longest time ends, and its client registers anew: it was the one to be given up."""
