"""How many linkifiers an organization may have: each is tried on every text."""

from tertulia.kernel.bounds import Bound

LINKIFIERS = Bound(
    name="linkifiers",
    what="linkifiers",
    of="organization",
    limit=200,
    tables=("linkifier",),
    refusal="The organization has {limit} linkifiers already.",
    counted="linkifier where realm_id = $1",
)

ALL = (LINKIFIERS,)
