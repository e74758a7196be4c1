"""SQL that changes groups: one statement per function."""

from collections.abc import Sequence

import msgspec

from tertulia.kernel.auth import Role
from tertulia.kernel.db import Transaction
from tertulia.kernel.freezing import NOTE
from tertulia.organization.groups.settings import GROUP_SETTINGS
from tertulia.organization.groups.system import FACTS, SystemGroup
from tertulia.organization.groups.values import GroupMembers

GROUPS_LOCK = 3
"""The class of the advisory lock on a realm's groups (docs/explanation/architecture.md, Locks)."""

_SYSTEM_GROUPS = """
insert into user_group (realm_id, name, description, is_system, lowest_role, is_for_full_members, date_created)
select $1, name, description, true, lowest_role, is_for_full_members, null
from unnest($2::text[], $3::text[], $4::int[], $5::bool[]) with ordinality
    as system_group(name, description, lowest_role, is_for_full_members, ord)
order by ord
returning id, name
"""

_NOBODY_MAY = """
update user_group set can_add_members_group = $2, can_join_group = $2, can_leave_group = $2, can_manage_group = $2,
    can_mention_group = $2, can_remove_members_group = $2
where realm_id = $1 and is_system and can_manage_group is null
"""


class NewGroup(msgspec.Struct, frozen=True):
    """A group to be stored, with the holder of each of its settings."""

    realm_id: int
    name: str
    description: str
    creator_id: int | None
    """None: nobody, a directory made it."""
    holders: dict[str, int]


async def insert_system_groups(tx: Transaction, realm_id: int) -> None:
    """Insert the groups every realm has; nobody may change them."""
    made = await insert_some_system_groups(tx, realm_id, list(FACTS))
    await let_nobody_change(tx, realm_id, made[SystemGroup.NOBODY])


async def let_nobody_change(tx: Transaction, realm_id: int, nobody: int) -> None:
    """Of system groups that were inserted."""
    await tx.execute(_NOBODY_MAY, realm_id, nobody)


async def insert_some_system_groups(tx: Transaction, realm_id: int, groups: Sequence[SystemGroup]) -> dict[str, int]:
    """Insert these; returns their ids by their names. Who may change them is said when all are there."""
    facts = [FACTS[group] for group in groups]
    rows = await tx.fetch(
        _SYSTEM_GROUPS,
        realm_id,
        [str(group) for group in groups],
        [fact.description for fact in facts],
        [fact.lowest_role for fact in facts],
        [fact.is_for_full_members for fact in facts],
    )
    return {row["name"]: row["id"] for row in rows}


async def lock_groups(tx: Transaction, realm_id: int) -> None:
    """Take the lock on the realm's groups: two changes at the same time could make a cycle, or a deadlock."""
    await tx.execute("select pg_advisory_xact_lock($1::int, $2::int)", GROUPS_LOCK, realm_id)


async def insert_group(tx: Transaction, new: NewGroup) -> int | None:
    """Insert a group; returns its id, None if the name is taken."""
    sql = f"""
    insert into user_group (realm_id, name, description, creator_id, {", ".join(GROUP_SETTINGS)})
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
    on conflict (realm_id, name) do nothing returning id
    """
    holders = [new.holders[setting] for setting in GROUP_SETTINGS]
    found = await tx.fetchval(sql, new.realm_id, new.name, new.description, new.creator_id, *holders)
    return None if found is None else int(found)


async def insert_anonymous(tx: Transaction, realm_id: int, value: GroupMembers) -> int:
    """Insert a group without a name; returns its id."""
    sql = """
    with made as (insert into user_group (realm_id, name) values ($1, null) returning id),
    members as (
        insert into group_member (realm_id, group_id, user_id, is_anonymous)
        select $1, made.id, user_id, true from made, unnest($2::bigint[]) as user_id
    ), subgroups as (
        insert into group_subgroup (realm_id, group_id, subgroup_id, is_anonymous)
        select $1, made.id, subgroup_id, true from made, unnest($3::bigint[]) as subgroup_id
    )
    select id from made
    """
    return int(await tx.fetchval(sql, realm_id, value.direct_members, value.direct_subgroups))


async def insert_anonymous_groups(tx: Transaction, realm_id: int, values: Sequence[GroupMembers]) -> list[int]:
    """Insert groups without a name, all in one statement; returns their ids, in the order of the values."""
    if not values:
        return []
    sql = """
    with made as (
        insert into user_group (realm_id, name) select $1, null from generate_series(1, $2) returning id
    ), numbered as materialized (
        select id, row_number() over (order by id) as number from made
    ), members as (
        insert into group_member (realm_id, group_id, user_id, is_anonymous)
        select $1, numbered.id, listed.user_id, true
        from numbered join unnest($3::bigint[], $4::bigint[]) as listed(number, user_id) using (number)
    ), subgroups as (
        insert into group_subgroup (realm_id, group_id, subgroup_id, is_anonymous)
        select $1, numbered.id, listed.subgroup_id, true
        from numbered join unnest($5::bigint[], $6::bigint[]) as listed(number, subgroup_id) using (number)
    )
    select id from numbered order by number
    """
    members = [(number, user) for number, value in enumerate(values, 1) for user in value.direct_members]
    subgroups = [(number, group) for number, value in enumerate(values, 1) for group in value.direct_subgroups]
    columns = [[pair[part] for pair in pairs] for pairs in (members, subgroups) for part in (0, 1)]
    return [row["id"] for row in await tx.fetch(sql, realm_id, len(values), *columns)]


async def delete_anonymous_groups(tx: Transaction, group_ids: Sequence[int]) -> None:
    """Remove those of the groups that have no name, with their members."""
    await tx.execute("delete from user_group where id = any($1::bigint[]) and name is null", group_ids)


async def rename_group(tx: Transaction, group_id: int, name: str) -> None:
    """Give a group another name; raises UniqueViolationError if it is taken."""
    await tx.execute("update user_group set name = $2 where id = $1", group_id, name)


async def describe_group(tx: Transaction, group_id: int, description: str) -> None:
    """Give a group another description."""
    await tx.execute("update user_group set description = $2 where id = $1", group_id, description)


async def set_deactivated(tx: Transaction, group_id: int, *, is_deactivated: bool) -> None:
    """Deactivate or reactivate a group."""
    await tx.execute("update user_group set is_deactivated = $2 where id = $1", group_id, is_deactivated)


async def set_holder(tx: Transaction, group_id: int, setting: str, holder: int) -> None:
    """Let another group hold a setting of a group."""
    assert setting in GROUP_SETTINGS
    await tx.execute(f"update user_group set {setting} = $2 where id = $1", group_id, holder)


async def set_permission(tx: Transaction, realm_id: int, setting: str, holder: int) -> None:
    """Let another group hold a permission of the organization."""
    sql = """
    insert into realm_permission (realm_id, setting, group_id) values ($1, $2, $3)
    on conflict (realm_id, setting) do update set group_id = excluded.group_id
    """
    await tx.execute(sql, realm_id, setting, holder)


async def insert_members(tx: Transaction, realm_id: int, group_id: int, user_ids: Sequence[int]) -> set[int]:
    """Add direct members; returns those that are new."""
    sql = """
    insert into group_member (realm_id, group_id, user_id) select $1, $2, unnest($3::bigint[])
    on conflict do nothing returning user_id
    """
    return {row["user_id"] for row in await tx.fetch(sql, realm_id, group_id, user_ids)}


async def delete_members(tx: Transaction, group_id: int, user_ids: Sequence[int]) -> set[int]:
    """Remove direct members; returns those that were members."""
    sql = "delete from group_member where group_id = $1 and user_id = any($2::bigint[]) returning user_id"
    return {row["user_id"] for row in await tx.fetch(sql, group_id, user_ids)}


async def insert_subgroups(tx: Transaction, realm_id: int, group_id: int, subgroup_ids: Sequence[int]) -> set[int]:
    """Add direct subgroups; returns those that are new."""
    sql = """
    insert into group_subgroup (realm_id, group_id, subgroup_id) select $1, $2, unnest($3::bigint[])
    on conflict do nothing returning subgroup_id
    """
    return {row["subgroup_id"] for row in await tx.fetch(sql, realm_id, group_id, subgroup_ids)}


async def delete_subgroups(tx: Transaction, group_id: int, subgroup_ids: Sequence[int]) -> set[int]:
    """Remove direct subgroups; returns those that were subgroups."""
    sql = "delete from group_subgroup where group_id = $1 and subgroup_id = any($2::bigint[]) returning subgroup_id"
    return {row["subgroup_id"] for row in await tx.fetch(sql, group_id, subgroup_ids)}


async def judge_members(tx: Transaction) -> list[tuple[int, int, list[int]]]:
    """Promote members whose waiting period is over; returns for each realm its id, its group of full members, and their ids."""
    sql = f"""
    with due as (
        select realm.id, judged_at, waiting.period
        from realm cross join lateral (
            select make_interval(days => coalesce((settings->>'waiting_period_threshold')::int, 0)) as period
        ) as waiting
        where realm.is_active and not realm.settings ? '{NOTE}' and waiting.period > interval '0' and exists (
            select from account where account.realm_id = realm.id and role = {Role.MEMBER} and account.is_active
                and system_bot is null and date_joined > judged_at - waiting.period and date_joined <= now() - waiting.period
        )
        for no key update of realm skip locked
    ), judged as (
        update realm set judged_at = now() from due where realm.id = due.id
    )
    select due.id as realm_id, user_group.id as group_id, array_agg(account.id order by account.id) as user_ids
    from due join user_group on user_group.realm_id = due.id and user_group.name = 'role:fullmembers'
    join account on account.realm_id = due.id and account.role = {Role.MEMBER} and account.is_active
        and system_bot is null and date_joined > judged_at - due.period and date_joined <= now() - due.period
    group by 1, 2
    """
    return [(row["realm_id"], row["group_id"], row["user_ids"]) for row in await tx.fetch(sql)]


async def set_waiting_period(tx: Transaction, realm_id: int, days: int) -> None:
    """Set the waiting period of new members. Who is past it is decided anew."""
    sql = """
    update realm set judged_at = now(), settings = case when $2 = 0 then settings - 'waiting_period_threshold'
        else settings || jsonb_build_object('waiting_period_threshold', $2::int) end
    where id = $1
    """
    await tx.execute(sql, realm_id, days)
