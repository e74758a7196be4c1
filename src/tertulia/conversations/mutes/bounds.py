"""How many people somebody may mute."""

from tertulia.kernel.bounds import Bound

MUTED_USERS = Bound(
    name="muted_users",
    what="muted people",
    of="person",
    limit=1000,
    tables=("muted_user",),
    refusal="You have muted {limit} people already.",
    counted="muted_user where user_id = $1",
)

ALL = (MUTED_USERS,)
