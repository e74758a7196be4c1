"""Groups in groups, for statements that ask about many groups or many people at once: parts of SQL.

`is_group_member` (first_release/organization.sql) walks the whole web of somebody's groups for one answer. That is quick, but a
message may mention hundreds of groups and have thousands of readers: asked for each of these, a web that any member can make
took seconds for which all senders waited (docs/decisions/0184). Here a web is walked through once, upwards from one person
(`climbing`) or downwards from groups (`inside`, and of many messages `reached_from`), with the same answers.
"""

from tertulia.kernel.auth import Role

BELOW = "join user_group as below on below.id = subgroup_id and not below.is_deactivated"
"""With `group_subgroup`: the subgroups that are in use."""


def climbing(who: str) -> str:
    """What follows `with recursive`: `climbed`, the named groups that somebody is in, at any depth.

    `who`: their id, such as `account.id` of the rows around it: no table in here has that name.
    """
    return f"""
    climbed(id) as (
        (
            select group_id from group_member where user_id = {who} and not is_anonymous
            union all
            select user_group.id from account as climber join realm on realm.id = climber.realm_id
            join user_group on user_group.realm_id = climber.realm_id and user_group.is_system
            where climber.id = {who} and climber.is_active and user_group.lowest_role >= climber.role
                and not (user_group.is_for_full_members and climber.role = {Role.MEMBER}
                    and is_waiting(climber.date_joined, realm.settings, realm.judged_at))
        )
        union
        select holding.group_id from climbed cross join lateral (
            select group_id from group_subgroup join user_group as below on below.id = climbed.id
            where subgroup_id = climbed.id and not is_anonymous and not below.is_deactivated offset 0
        ) as holding
    )
    """


def holds_by_climbing(group: str, account: str) -> str:
    """As `holds`, where `climbed` is of that account, which is active."""
    return f"""
    case when {group}.lowest_role is null or {group}.is_for_full_members then
        {group}.id in (select id from climbed)
        or exists (select from group_member where group_member.group_id = {group}.id and group_member.user_id = {account}.id)
        or exists (
            select from group_subgroup join user_group as below on below.id = subgroup_id
            where group_subgroup.group_id = {group}.id and is_anonymous and not below.is_deactivated
                and subgroup_id in (select id from climbed)
        )
    else {account}.role <= {group}.lowest_role end
    """


def inside(roots: str) -> str:
    """What follows `with recursive`: `reached`, the groups of a query of ids and those inside of them, at any depth.

    As in `is_group_member`, what is below a group out of use is not reached through it.
    """
    return f"""
    reached(id) as (
        {roots}
        union
        select subgroup_id from reached join group_subgroup on group_subgroup.group_id = reached.id {BELOW}
    )
    """


def reached_from(roots: str, *, in_use: bool = True) -> str:
    """For each message what its groups reach: the ids of all groups inside of them, and the roles that belong to these.

    `roots`: a query of (message_id, group_id). `in_use`: a group out of use has nobody in it.
    """
    usable = "and not is_deactivated" if in_use else ""
    return f"""
    select rooted.message_id, array_agg(reached.id) as ids, bool_or(is_for_full_members) as has_full_members,
        max(lowest_role) filter (where not is_for_full_members) as lowest_role
    from (select message_id, array_agg(group_id) as roots from ({roots}) as named group by message_id) as rooted
    cross join lateral (
        with recursive {inside(f"select id from user_group where id = any(rooted.roots) {usable}")}
        select id, lowest_role, is_for_full_members from reached join user_group using (id)
    ) as reached group by rooted.message_id
    """


def is_within(account: str, reached: str) -> str:
    """Whether an active account is in one of the groups of a row of `reached_from`; also where there is no such row."""
    return f"""
    coalesce({account}.role <= {reached}.lowest_role, false)
    or coalesce({reached}.has_full_members and {account}.role <= {Role.MEMBER} and not ({account}.role = {Role.MEMBER} and (
        select is_waiting({account}.date_joined, realm.settings, realm.judged_at) from realm where realm.id = {account}.realm_id
    )), false)
    or exists (select from group_member where group_member.user_id = {account}.id
        and group_member.group_id = any({reached}.ids) offset 0)
    """
