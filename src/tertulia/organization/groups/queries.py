"""SQL of groups: one statement per function. What only changes something is in statements.py."""

from collections.abc import Collection, Sequence

import msgspec

from tertulia.kernel.auth import Role
from tertulia.kernel.db import FEW_PEOPLE, Reader, Transaction
from tertulia.organization.groups.model import Group
from tertulia.organization.groups.settings import CHANNEL_SETTINGS, GROUP_SETTINGS
from tertulia.organization.groups.system import SystemGroup
from tertulia.organization.groups.values import GroupMembers
from tertulia.organization.groups.webs.statements import inside

_SETTINGS = ", ".join(GROUP_SETTINGS)
_GROUP = f"""
id, realm_id, name, description, is_system, is_deactivated, creator_id,
extract(epoch from date_created)::bigint as date_created, {_SETTINGS}
"""
_WAITING = "is_waiting(account.date_joined, realm.settings, realm.judged_at)"

# Everything below the groups $1, themselves included, and who is in it by role. As `is_group_member`, but for many users at
# once, and so from the groups downwards.
_REACHED = inside("select unnest($1::bigint[])")
_REACHED_SYSTEMS = """
systems as materialized (
    select realm_id, lowest_role, is_for_full_members from user_group
    where lowest_role is not null and id in (select id from reached)
)
"""
_IN_SYSTEM = f"""
exists (
    select from systems where systems.realm_id = account.realm_id and systems.lowest_role >= account.role
        and not (systems.is_for_full_members and account.role = {Role.MEMBER} and {_WAITING})
)
"""


def holds(group: str, account: str) -> str:
    """The question `is_group_member` as a condition on two rows of a statement; most values need no look at any group."""
    return f"""
    case when {group}.lowest_role is null or {group}.is_for_full_members then is_group_member({account}.id, {group}.id)
        else {account}.role <= {group}.lowest_role end
    """


def _pairs(settings: Collection[str], table: str) -> str:
    """Rows of (setting, holder) from the columns of a table."""
    return ", ".join(f"('{setting}', {table}.{setting})" for setting in settings)


class GroupStanding(msgspec.Struct, frozen=True):
    """What a user's direct places in the system groups follow from, beside the role."""

    is_waiting: bool
    group_ids: dict[SystemGroup, int]


class GroupPlace(msgspec.Struct, frozen=True):
    """A group a user is a direct member of."""

    id: int
    is_anonymous: bool
    is_deactivated: bool


class GroupUse(msgspec.Struct, frozen=True):
    """A setting of a group, and its holder."""

    group_id: int
    is_deactivated: bool
    setting: str
    holder: int


class Objection(msgspec.Struct, frozen=True):
    """A use of a group that keeps it from being deactivated: `id` is the supergroup, channel or group that uses it."""

    kind: str
    id: int | None
    setting: str | None


# Groups


async def named_groups(
    reader: Reader, realm_id: int, *, include_deactivated: bool, ids: Sequence[int] | None = None
) -> list[Group]:
    """The named groups of a realm, or those with these ids, by id."""
    sql = f"""
    select {_GROUP} from user_group
    where realm_id = $1 and name is not null and ($2 or not is_deactivated) and ($3::bigint[] is null or id = any($3))
    order by id
    """
    return [Group(**row) for row in await reader.fetch(sql, realm_id, include_deactivated, ids)]


async def find_group(reader: Reader, realm_id: int, group_id: int) -> Group | None:
    """A named group of the realm."""
    sql = f"select {_GROUP} from user_group where realm_id = $1 and id = $2 and name is not null"
    row = await reader.fetchrow(sql, realm_id, group_id)
    return Group(**row) if row else None


async def lock_group(tx: Transaction, realm_id: int, group_id: int) -> Group | None:
    """A named group of the realm, held until the commit: nobody changes it or comes to use it meanwhile."""
    sql = f"""
    select {_GROUP} from user_group where realm_id = $1 and id = $2 and name is not null for no key update
    """
    row = await tx.fetchrow(sql, realm_id, group_id)
    return Group(**row) if row else None


async def lock_named(tx: Transaction, realm_id: int, group_ids: Sequence[int]) -> dict[int, bool]:
    """Whether named groups are deactivated; they stay so until the commit."""
    sql = """
    select id, is_deactivated from user_group where realm_id = $1 and id = any($2::bigint[]) and name is not null
    order by id for share
    """
    return {row["id"]: row["is_deactivated"] for row in await tx.fetch(sql, realm_id, group_ids)}


async def system_groups(reader: Reader, realm_id: int) -> dict[int, SystemGroup]:
    """The realm's system groups by id."""
    rows = await reader.fetch("select id, name from user_group where realm_id = $1 and is_system order by id", realm_id)
    return {row["id"]: SystemGroup(row["name"]) for row in rows}


async def anonymous_groups(reader: Reader, group_ids: Collection[int]) -> dict[int, GroupMembers]:
    """Those of the groups that have no name, without their deactivated members."""
    # Thousands at once, in lists of channels: each table is read once.
    sql = """
    with named as materialized (select id from user_group where id = any($1::bigint[]) and name is null)
    select named.id, coalesce(members.ids, '{}') as members, coalesce(subgroups.ids, '{}') as subgroups
    from named left join (
        select group_id, array_agg(user_id order by user_id) as ids
        from group_member join account on account.id = user_id and account.is_active
        where group_id = any($1::bigint[]) and is_anonymous group by group_id
    ) as members on members.group_id = named.id left join (
        select group_id, array_agg(subgroup_id order by subgroup_id) as ids
        from group_subgroup where group_id = any($1::bigint[]) and is_anonymous group by group_id
    ) as subgroups on subgroups.group_id = named.id
    """
    rows = await reader.fetch(sql, list(group_ids))
    return {row["id"]: GroupMembers(row["members"], row["subgroups"]) for row in rows}


# Rights


async def holds_any(
    reader: Reader,
    realm_id: int,
    user_id: int,
    realm_settings: Sequence[tuple[str, str, bool]],
    holders: Sequence[tuple[int, bool]],
) -> bool:
    """Whether a user of the realm holds one of the permissions: settings of it (with their default), or holders."""
    sql = f"""
    with asked(holder, allows_guests) as (
        select coalesce(
            (select group_id from realm_permission where realm_id = $1 and realm_permission.setting = wanted.setting),
            (select id from user_group where realm_id = $1 and name = wanted.fallback)
        ), allows_guests
        from unnest($3::text[], $4::text[], $5::boolean[]) as wanted(setting, fallback, allows_guests)
        union all
        select holder, allows_guests from unnest($6::bigint[], $7::boolean[]) as wanted(holder, allows_guests)
    )
    select exists (
        select from asked join account on account.id = $2 and account.realm_id = $1
        where (allows_guests or account.role < {Role.GUEST}) and is_group_member(account.id, holder)
    )
    """
    columns = [
        *_columns(realm_settings, 3),
        *_columns(holders, 2),
    ]
    return bool(await reader.fetchval(sql, realm_id, user_id, *columns))


async def members_among(reader: Reader, group_id: int, user_ids: Sequence[int]) -> set[int]:
    """Which of these users belong to the group, at any depth: the group is walked through once."""
    sql = f"""
    with recursive {_REACHED}, {_REACHED_SYSTEMS}, found as (
        select distinct user_id from group_member
        where user_id = any($2::bigint[]) and group_id in (select id from reached)
    )
    select account.id from account join realm on realm.id = account.realm_id
    left join found on found.user_id = account.id
    where account.id = any($2::bigint[]) and account.is_active and (found.user_id is not null or {_IN_SYSTEM})
    """
    return {row["id"] for row in await reader.fetch(sql, [group_id], user_ids)}


async def permission_holders(reader: Reader, realm_id: int) -> dict[str, int]:
    """The realm's permissions that differ from their default."""
    rows = await reader.fetch("select setting, group_id from realm_permission where realm_id = $1", realm_id)
    return {row["setting"]: row["group_id"] for row in rows}


async def hold_active_users(tx: Transaction, realm_id: int, user_ids: Sequence[int]) -> set[int]:
    """Those of the users who are in the realm and active, and stay so until the commit.

    Whoever deactivates one of them, or gives them another role, comes before or after, and so sees all places that have to be
    told of. No stronger: they log in and change their settings meanwhile. Many of them cost, for whoever has to wait.
    """
    if len(user_ids) > FEW_PEOPLE:
        tx.holds_others_back()
    sql = """
    select id from account where realm_id = $1 and id = any($2::bigint[]) and is_active and system_bot is null
    order by id for key share
    """
    return {row["id"] for row in await tx.fetch(sql, realm_id, user_ids)}


async def people_among(reader: Reader, user_ids: Sequence[int]) -> set[int]:
    """Those of the users who are no bots."""
    rows = await reader.fetch("select id from account where id = any($1::bigint[]) and bot_type is null", user_ids)
    return {row["id"] for row in rows}


async def find_active(reader: Reader, realm_id: int, user_id: int) -> bool | None:
    """Whether a user of the realm is active; None if there is no such user."""
    sql = "select is_active from account where realm_id = $1 and id = $2"
    found: bool | None = await reader.fetchval(sql, realm_id, user_id)
    return found


# Who is in a group


async def direct_members(reader: Reader, group_ids: Sequence[int]) -> dict[int, list[int]]:
    """The active direct members of groups that are no system groups, ascending."""
    sql = """
    select group_id, array_agg(user_id order by user_id) as user_ids
    from group_member join account on account.id = user_id
    where group_id = any($1::bigint[]) and account.is_active group by group_id
    """
    return {row["group_id"]: row["user_ids"] for row in await reader.fetch(sql, group_ids)}


async def direct_members_among(reader: Reader, group_id: int, user_ids: Sequence[int]) -> set[int]:
    """Which of these users are in the group itself, not only in one of its subgroups."""
    sql = "select user_id from group_member where group_id = $1 and user_id = any($2::bigint[])"
    return {row["user_id"] for row in await reader.fetch(sql, group_id, user_ids)}


async def groups_by_name(reader: Reader, realm_id: int, names: Collection[str]) -> dict[str, int]:
    """The ids of groups in use that people made, by their names."""
    sql = """
    select id, name from user_group
    where realm_id = $1 and name = any($2::text[]) and not is_system and not is_deactivated
    """
    return {row["name"]: row["id"] for row in await reader.fetch(sql, realm_id, list(names))}


async def direct_subgroups(reader: Reader, group_ids: Sequence[int]) -> dict[int, list[int]]:
    """The direct subgroups of groups that are no system groups, ascending."""
    sql = """
    select group_id, array_agg(subgroup_id order by subgroup_id) as subgroup_ids
    from group_subgroup where group_id = any($1::bigint[]) group by group_id
    """
    return {row["group_id"]: row["subgroup_ids"] for row in await reader.fetch(sql, group_ids)}


async def roles_version(reader: Reader, realm_id: int) -> str:
    """Changes whenever `users_by_role` does."""
    sql = """
    select concat_ws(' ', users_version, settings->>'waiting_period_threshold', extract(epoch from judged_at))
    from realm where id = $1
    """
    return str(await reader.fetchval(sql, realm_id))


async def users_by_role(reader: Reader, realm_id: int) -> list[tuple[int, bool, list[int]]]:
    """The active users of each role, apart by whether they wait to be full members, ascending."""
    sql = f"""
    select role, {_WAITING} as waits, array_agg(account.id order by account.id) as user_ids
    from account join realm on realm.id = account.realm_id
    where account.realm_id = $1 and account.is_active and account.system_bot is null group by 1, 2
    """
    return [(row["role"], row["waits"], row["user_ids"]) for row in await reader.fetch(sql, realm_id)]


async def all_members(reader: Reader, realm_id: int, group_ids: Sequence[int]) -> list[int]:
    """Everybody who belongs to one of the groups, at any depth, ascending. Asked once for all of them: a member may have hundreds
    that each hold everybody."""
    sql = f"""
    with recursive {_REACHED}, {_REACHED_SYSTEMS}, found as (
        select distinct user_id from group_member where group_id in (select id from reached)
    )
    select account.id from account join realm on realm.id = account.realm_id
    left join found on found.user_id = account.id
    where account.realm_id = $2 and account.is_active and account.system_bot is null
        and (found.user_id is not null or {_IN_SYSTEM})
    order by account.id
    """
    return [row["id"] for row in await reader.fetch(sql, group_ids, realm_id)]


async def all_subgroups(reader: Reader, group_ids: Sequence[int]) -> set[int]:
    """The groups themselves and everything below them; what is below a system group is not stored."""
    sql = """
    with recursive reached(id) as (
        select unnest($1::bigint[])
        union
        select subgroup_id from reached join group_subgroup on group_subgroup.group_id = reached.id
    )
    select id from reached
    """
    return {row["id"] for row in await reader.fetch(sql, group_ids)}


async def standing_of(reader: Reader, realm_id: int, user_id: int) -> GroupStanding:
    """What a user's places in the system groups follow from."""
    sql = f"""
    select user_group.id, user_group.name, {_WAITING} as waits
    from account join realm on realm.id = account.realm_id join user_group on user_group.realm_id = realm.id
    where account.realm_id = $1 and account.id = $2 and user_group.is_system
    """
    rows = await reader.fetch(sql, realm_id, user_id)
    return GroupStanding(rows[0]["waits"], {SystemGroup(row["name"]): row["id"] for row in rows})


async def waiting_members(reader: Reader, realm_id: int) -> set[int]:
    """The active members who are not full members yet."""
    sql = f"""
    select account.id from account join realm on realm.id = account.realm_id
    where account.realm_id = $1 and account.role = {Role.MEMBER} and account.is_active and system_bot is null
        and {_WAITING}
    """
    return {row["id"] for row in await reader.fetch(sql, realm_id)}


# Where something is used


async def places_of(reader: Reader, user_id: int) -> list[GroupPlace]:
    """The groups that name the user as a direct member."""
    sql = """
    select id, name is null as is_anonymous, is_deactivated
    from group_member join user_group on user_group.id = group_id where user_id = $1 order by id
    """
    return [GroupPlace(**row) for row in await reader.fetch(sql, user_id)]


async def hold_anonymous(tx: Transaction, group_ids: Sequence[int]) -> list[int]:
    """Those of the anonymous groups that are still there: until the commit nobody puts another value in their place."""
    sql = "select id from user_group where id = any($1::bigint[]) order by id for key share"
    return [row["id"] for row in await tx.fetch(sql, group_ids)] if group_ids else []


async def group_uses(reader: Reader, realm_id: int, holders: Sequence[int]) -> list[GroupUse]:
    """The settings of groups that these groups hold."""
    sql = f"""
    select user_group.id as group_id, is_deactivated, used.setting, used.holder
    from user_group, lateral (values {_pairs(GROUP_SETTINGS, "user_group")}) as used(setting, holder)
    where realm_id = $1 and used.holder = any($2::bigint[]) order by 1, 3
    """
    return [GroupUse(**row) for row in await reader.fetch(sql, realm_id, holders)]


class ChannelUse(msgspec.Struct, frozen=True):
    """A setting of a channel, and its holder."""

    channel_id: int
    name: str
    invite_only: bool
    is_web_public: bool
    is_archived: bool
    setting: str
    holder: int


async def channel_uses(reader: Reader, realm_id: int, holders: Sequence[int]) -> list[ChannelUse]:
    """The settings of channels that these groups hold."""
    sql = f"""
    select channel.id as channel_id, name, invite_only, is_web_public, is_archived, used.setting, used.holder
    from channel, lateral (values {_pairs(CHANNEL_SETTINGS, "channel")}) as used(setting, holder)
    where realm_id = $1 and used.holder = any($2::bigint[]) order by 1, 6
    """
    return [ChannelUse(**row) for row in await reader.fetch(sql, realm_id, holders)]


async def permission_uses(reader: Reader, realm_id: int, holders: Sequence[int]) -> dict[str, int]:
    """The realm's permissions that these groups hold."""
    sql = "select setting, group_id from realm_permission where realm_id = $1 and group_id = any($2::bigint[])"
    return {row["setting"]: row["group_id"] for row in await reader.fetch(sql, realm_id, holders)}


async def objections(reader: Reader, realm_id: int, group_id: int) -> list[Objection]:
    """Every use of a group by what is itself in use: as a subgroup, or in a value, also inside an anonymous group."""
    sql = f"""
    with holder as (
        select $2::bigint as id
        union all
        select user_group.id from group_subgroup join user_group on user_group.id = group_subgroup.group_id
        where subgroup_id = $2 and user_group.name is null
    )
    select 1 as part, 'subgroup' as kind, user_group.id, null as setting
    from group_subgroup join user_group on user_group.id = group_subgroup.group_id
    where subgroup_id = $2 and user_group.name is not null and not is_deactivated
    union all
    select 2, 'channel', channel.id, used.setting
    from channel, lateral (values {_pairs(CHANNEL_SETTINGS, "channel")}) as used(setting, holder)
    where realm_id = $1 and not is_archived and used.holder in (select id from holder)
    union all
    select 3, 'user_group', user_group.id, used.setting
    from user_group, lateral (values {_pairs(GROUP_SETTINGS, "user_group")}) as used(setting, holder)
    where realm_id = $1 and user_group.id <> $2 and not is_deactivated and used.holder in (select id from holder)
    union all
    select 4, 'realm', null, setting
    from realm_permission where realm_id = $1 and group_id in (select id from holder)
    order by 1, 3, 4
    """
    rows = await reader.fetch(sql, realm_id, group_id)
    return [Objection(row["kind"], row["id"], row["setting"]) for row in rows]


def _columns(rows: Sequence[tuple[object, ...]], width: int) -> list[list[object]]:
    return [[row[index] for row in rows] for index in range(width)]


async def guests_apart(reader: Reader, realm_id: int, user_ids: Sequence[int]) -> list[int] | None:
    """Where guests do not see everybody: those of the users who are guests, ascending. None where they do."""
    sql = f"""
    select array(
        select id from account where realm_id = $1 and id = any($2::bigint[]) and role = {Role.GUEST} order by id
    ) from realm_permission join user_group on user_group.id = realm_permission.group_id
    where realm_permission.realm_id = $1 and setting = 'can_access_all_users_group' and user_group.name = '{SystemGroup.MEMBERS}'
    """
    found: list[int] | None = await reader.fetchval(sql, realm_id, list(user_ids))
    return found
