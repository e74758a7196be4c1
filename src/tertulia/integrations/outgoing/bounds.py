"""How much waits to be told to the servers of bots."""

from tertulia.kernel.bounds import Bound

CALLS = Bound(
    name="bot_calls",
    what="calls of its server that wait",
    of="bot",
    limit=1000,
    tables=("hook_call",),
    refusal="",
    instead="it is not called; the message is sent all the same",
)

ALL = (CALLS,)
