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

# Whoever looks for calls passes those of owners who have as many under way as they may.
OWNED_CALLS = Bound(
    name="owned_bot_calls",
    what="calls of the servers of one's bots that wait, about",
    of="person",
    limit=3000,
    tables=("hook_call",),
    refusal="",
    instead=CALLS.instead,
)
CALLED_BOTS = Bound(
    name="called_bots",
    what="bots whose servers it calls",
    of="message",
    limit=20,
    tables=("hook_call",),
    refusal="",
    instead="those with the lowest numbers are called; all others see the message as anybody does",
)
"""Each is looked up and counted while others wait to send, and each may answer: one message would be hundreds."""

ALL = (CALLS, OWNED_CALLS, CALLED_BOTS)
