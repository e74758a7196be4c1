"""How many bots somebody may make, and how much these may remember."""

from tertulia.kernel.bounds import OF_PERSON, Bound, Otherwise

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
# Who has many bots does not fill the disk of everybody; and all of it is added up at each change.
OWNED_KEYS = Bound(
    name="owned_storage_keys",
    what="keys in the storage of a person and of their bots together",
    of="person",
    limit=100000,
    tables=("bot_storage",),
    refusal="Your storage and that of your bots has {limit} keys already: delete some of them.",
    counted=f"bot_storage where {OF_PERSON}",
)
OWNED_CHARACTERS = Bound(
    name="owned_storage_characters",
    what="characters in the storage of a person and of their bots together",
    of="person",
    limit=100000000,
    tables=("bot_storage",),
    refusal="Your storage and that of your bots is full (limit: {limit} characters in all).",
    counted=f"bot_storage where {OF_PERSON}",
    weight="size",
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
    OWNED_KEYS,
    OWNED_CHARACTERS,
    SERVICES,
)
