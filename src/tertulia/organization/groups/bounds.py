"""How many groups an organization may have, and of these one person."""

from tertulia.kernel.bounds import Bound, Otherwise

GROUPS = Bound(
    name="groups",
    what="groups that are not deactivated",
    of="organization",
    limit=5000,
    tables=("user_group",),
    refusal="The organization has {limit} groups already.",
    counted="user_group where realm_id = $1 and name is not null and not is_system and not is_deactivated",
)
OWN_GROUPS = Bound(
    name="own_groups",
    what="groups made by one person or their bots, deactivated ones among them; administrators have no such bound",
    of="person",
    limit=500,
    tables=("user_group",),
    refusal="You have made {limit} groups, and can't make more: ask an administrator.",
    counted="user_group where share_of = $1",
)
"""Those out of use count, or making and taking out of use in turns would have no end."""
HOLDERS = Otherwise(
    tables=("realm_permission", "group_member", "group_subgroup"),
    because="one for each permission; one for each account, or group, in a group",
)

ALL = (
    GROUPS,
    OWN_GROUPS,
    HOLDERS,
)
