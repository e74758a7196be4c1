"""How many browsers get notifications of one person."""

from tertulia.kernel.bounds import Bound, Otherwise

SUBSCRIPTIONS = Bound(
    name="push_subscriptions",
    what="browsers that get notifications",
    of="person",
    limit=20,
    tables=("push_subscription",),
    refusal="",
    instead="the oldest is deleted",
)
CALLS = Bound(
    name="push_calls",
    what="pushes that wait for it",
    of="browser",
    limit=100,
    tables=("push_call",),
    refusal="",
    instead="it is not pushed; the message is there all the same",
)
KEY = Otherwise(
    tables=("push_key",),
    because="one key of the server",
)

ALL = (
    SUBSCRIPTIONS,
    CALLS,
    KEY,
)
