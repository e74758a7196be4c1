"""How many playgrounds an organization may have."""

from tertulia.kernel.bounds import Bound

PLAYGROUNDS = Bound(
    name="playgrounds",
    what="playgrounds",
    of="organization",
    limit=200,
    tables=("playground",),
    refusal="The organization has {limit} playgrounds already.",
    counted="playground where realm_id = $1",
)

ALL = (PLAYGROUNDS,)
