"""How many bots somebody may make, and how much these may remember."""

from tertulia.kernel.bounds import Bound, Otherwise

BOTS = Bound(
    name="bots",
    what="bots, deactivated ones among them",
    of="person",
    limit=500,
    tables=("account",),
    refusal="You have {limit} bots already.",
    counted="account where bot_owner_id = $1",
)
# Nobody is asked before: others must not use up the bots that somebody may make.
GIVEN_BOTS = Bound(
    name="given_bots",
    what="bots that somebody has, deactivated ones among them, when a person who is no administrator gives them one more",
    of="person",
    limit=100,
    tables=("account",),
    refusal="They have {limit} bots or more: only an administrator can give them another one.",
    counted="account where bot_owner_id = $1",
)
STORED_KEYS = Bound(
    name="bot_storage_keys",
    what="keys in its storage",
    of="account",
    limit=10000,
    tables=("bot_storage",),
    refusal="The storage has {limit} keys already: delete some of them.",
    counted="bot_storage where user_id = $1",
)
STORED_CHARACTERS = Bound(
    name="bot_storage_characters",
    what="characters in its storage",
    of="account",
    limit=10000000,
    tables=("bot_storage",),
    refusal="The storage is full (limit: {limit} characters in all).",
)
SERVICES = Otherwise(
    tables=("bot_service", "bot_default"),
    because="one for each bot",
)

ALL = (
    BOTS,
    GIVEN_BOTS,
    STORED_KEYS,
    STORED_CHARACTERS,
    SERVICES,
)
