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
PUSHES = Otherwise(
    tables=("push_call", "push_key"),
    because="one for each message and each browser it goes to, until it is sent; one key of the server",
)

ALL = (
    SUBSCRIPTIONS,
    PUSHES,
)
