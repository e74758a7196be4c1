"""How many groups an organization may have, and of these one person."""

from collections.abc import Iterable

from tertulia.kernel.bounds import Bound, Otherwise
from tertulia.organization.groups.settings import GROUP_SETTINGS


def named_by_settings(table: str, settings: Iterable[str]) -> str:
    """Whom the settings of one person's rows name one by one, as a bound counts them: people and groups, by anonymous groups."""
    return f"""(
        select unnest(array[{", ".join(settings)}]) as holder from {table} where share_of = $1
    ) as setting join lateral (
        select from group_member where group_id = setting.holder and is_anonymous
        union all select from group_subgroup where group_id = setting.holder and is_anonymous
    ) as named on true"""  # noqa: S608


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
OWN_GROUP_HOLDERS = Bound(
    name="own_group_holders",
    what="people and groups that settings of groups made by one person or their bots name one by one; as above",
    of="person",
    limit=50_000,
    tables=("group_member", "group_subgroup"),
    refusal="The settings of your groups name {limit} people together, and can't name more: name a group instead.",
    counted=named_by_settings("user_group", GROUP_SETTINGS),
)
"""Everybody gets them, with each registration: as those of channels."""
SUBGROUPS = Bound(
    name="subgroups",
    what="groups in groups, each as often as it is in one",
    of="organization",
    limit=2_000,
    tables=("group_subgroup",),
    refusal="The organization has {limit} groups in groups already: take some out.",
    counted="""user_group join group_subgroup on group_id = user_group.id
        where user_group.realm_id = $1 and name is not null and not is_anonymous""",
)
"""Who asks whether somebody belongs to a group goes every way up from them, and so does each send: of all organizations'
senders, some at a time wait for it together."""
HOLDERS = Otherwise(
    tables=("realm_permission",),
    because="one for each permission",
)

ALL = (
    GROUPS,
    OWN_GROUPS,
    OWN_GROUP_BYTES,
    OWN_GROUP_MEMBERS,
    OWN_GROUP_HOLDERS,
    SUBGROUPS,
    HOLDERS,
)
