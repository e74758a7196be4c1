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
OWN_GROUP_BYTES = Bound(
    name="own_group_bytes",
    what="bytes of descriptions of groups made by one person or their bots; as above",
    of="person",
    limit=512 * 1024,
    tables=("user_group",),
    refusal="The descriptions of your groups are too long together (limit: {limit} bytes): shorten some of them.",
    counted="user_group where share_of = $1",
    weight="octet_length(description)",
)
"""Everybody gets them, with each registration."""
OWN_GROUP_MEMBERS = Bound(
    name="own_group_members",
    what="people in groups made by one person or their bots, each as often as they are in one; as above",
    of="person",
    limit=100_000,
    tables=("group_member",),
    refusal="Your groups have {limit} members together, and can't have more: ask an administrator.",
    counted="group_member where group_id in (select id from user_group where share_of = $1)",
)
HOLDERS = Otherwise(
    tables=("realm_permission", "group_subgroup"),
    because="one for each permission; one for each group in a group",
)

ALL = (
    GROUPS,
    OWN_GROUPS,
    OWN_GROUP_BYTES,
    OWN_GROUP_MEMBERS,
    HOLDERS,
)
