"""How many profile fields an organization may have."""

from tertulia.kernel.bounds import Bound, Otherwise

FIELDS = Bound(
    name="profile_fields",
    what="profile fields",
    of="organization",
    limit=100,
    tables=("profile_field",),
    refusal="The organization has {limit} profile fields already.",
    counted="profile_field where realm_id = $1",
)
VALUES = Otherwise(
    tables=("profile_value",),
    because="one for each account and profile field",
)

ALL = (
    FIELDS,
    VALUES,
)
