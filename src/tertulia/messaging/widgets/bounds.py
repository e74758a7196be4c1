"""How much a widget may be told: every reader of its message gets all of it.

One person may use up a part only, so that nobody can end a poll for the others.
"""

from tertulia.kernel.bounds import Bound

SUBMESSAGES = Bound(
    name="submessages",
    what="what its poll or list is told",
    of="message",
    limit=5000,
    tables=("submessage",),
    refusal="This poll or list has been told all that it can hold ({limit} times). Please start a new one.",
)
SUBMESSAGE_BYTES = Bound(
    name="submessage_bytes",
    what="bytes that its poll or list is told",
    of="message",
    limit=200_000,
    tables=("submessage",),
    refusal="This poll or list has been told all that it can hold ({limit} bytes). Please start a new one.",
)
OWN_SUBMESSAGES = Bound(
    name="own_submessages",
    what="what one person tells a poll or list",
    of="message and person",
    limit=1000,
    tables=("submessage",),
    refusal="You have told this poll or list all that you can ({limit} times).",
)
OWN_SUBMESSAGE_BYTES = Bound(
    name="own_submessage_bytes",
    what="bytes that one person tells a poll or list",
    of="message and person",
    limit=50_000,
    tables=("submessage",),
    refusal="You have told this poll or list all that you can ({limit} bytes).",
)
ALL = (SUBMESSAGES, SUBMESSAGE_BYTES, OWN_SUBMESSAGES, OWN_SUBMESSAGE_BYTES)
"""In the order of the counts in queries.find_totals."""
