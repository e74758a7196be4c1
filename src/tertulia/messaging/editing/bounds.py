"""How often a message may change."""

from tertulia.kernel.bounds import Bound, Otherwise

EDITS = Bound(
    name="edits",
    what="new texts",
    of="message",
    limit=1000,
    tables=("message_revision",),
    refusal="This message has been edited {limit} times, and can't be edited any more. Please send a new one.",
)
KEPT_MOVES, KEPT_NAMES = 20, 100
"""How many moves a message, and how many names a topic remembers: the newest. Whoever moves a message is not always the one who
wrote it, so nobody can use the moves up for others. A move of a large topic is a row for each message, its rename is one."""
PASSES = Otherwise(tables=("rendering_pass",), because="two rows, which are gone when the pass is over")

ALL = (EDITS, PASSES)
