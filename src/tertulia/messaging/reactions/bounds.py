"""How many reactions a message may have: every reader of it gets all of them."""

from tertulia.kernel.bounds import Bound

REACTIONS = Bound(
    name="reactions",
    what="reactions",
    of="message",
    limit=10_000,
    tables=("reaction",),
    refusal="This message has {limit} reactions, and can't have more.",
)
EMOJI = Bound(
    name="reaction_emoji",
    what="different emoji among its reactions",
    of="message",
    limit=100,
    tables=("reaction",),
    refusal="This message has reactions with {limit} different emoji: choose one of those.",
)
OWN_REACTIONS = Bound(
    name="own_reactions",
    what="reactions of one person",
    of="message and person",
    limit=20,
    tables=("reaction",),
    refusal="You have put {limit} reactions to this message, and can't put more.",
)

ALL = (REACTIONS, EMOJI, OWN_REACTIONS)
