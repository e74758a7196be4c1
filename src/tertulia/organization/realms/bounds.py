"""How many domains an organization may name."""

from tertulia.kernel.bounds import Bound, Otherwise

DOMAINS = Bound(
    name="realm_domains",
    what="domains of addresses",
    of="organization",
    limit=1000,
    tables=("realm_domain",),
    refusal="The organization has {limit} domains already.",
    counted="realm_domain where realm_id = $1",
)
REALMS = Otherwise(
    tables=("realm", "realm_import"),
    because="made by the operator alone",
)
PICTURES = Otherwise(
    tables=("realm_picture",),
    because="one of each kind for each organization",
)

ALL = (
    DOMAINS,
    REALMS,
    PICTURES,
)
