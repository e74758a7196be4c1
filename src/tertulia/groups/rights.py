"""May they? The one place that answers, for one user or for many, and the one that stores who may.

The walk through nested groups is the SQL function `is_group_member` (migration 0002), so that the very same answer can be
had inside any other statement: rights that must hold at the moment of a write are asked for in that write.
"""

from collections.abc import Sequence

import msgspec

from tertulia.groups.settings import REALM_SETTINGS, SettingRule
from tertulia.groups.system import SystemGroup
from tertulia.groups.values import GroupMembers, GroupValue, canonical, check_allowed
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.errors import Refusal


async def is_member(reader: Reader, user_id: int, group_id: int) -> bool:
    """Whether the user belongs to the group, at any depth."""
    return bool(await reader.fetchval("select is_group_member($1, $2)", user_id, group_id))


async def members_among(reader: Reader, group_id: int, user_ids: Sequence[int]) -> set[int]:
    """Which of these users belong to the group."""
    sql = "select user_id from unnest($2::bigint[]) as user_id where is_group_member(user_id, $1)"
    return {row["user_id"] for row in await reader.fetch(sql, group_id, user_ids)}


async def holds(reader: Reader, caller: Caller, setting: str) -> bool:
    """Whether the caller holds a permission of the organization."""
    rule = REALM_SETTINGS[setting]
    if caller.is_guest and not rule.allow_everyone:
        return False
    sql = """
    select is_group_member($2, coalesce(
        (select group_id from realm_permission where realm_id = $1 and setting = $3),
        (select id from user_group where realm_id = $1 and name = $4)
    ))
    """
    return bool(await reader.fetchval(sql, caller.realm_id, caller.user_id, setting, str(rule.default)))


async def check_holds(reader: Reader, caller: Caller, setting: str) -> None:
    """Refuse callers without a permission of the organization."""
    if not await holds(reader, caller, setting):
        raise Refusal("Insufficient permission")


async def permission_values(reader: Reader, realm_id: int) -> dict[str, GroupValue]:
    """The organization's permissions as the API shows them."""
    systems = {name: group_id for group_id, name in (await system_groups(reader, realm_id)).items()}
    stored = await reader.fetch("select setting, group_id from realm_permission where realm_id = $1", realm_id)
    chosen = {row["setting"]: row["group_id"] for row in stored}
    groups = {name: chosen.get(name, systems[SystemGroup(rule.default)]) for name, rule in REALM_SETTINGS.items()}
    values = await values_of(reader, list(groups.values())) if chosen else {}
    return {name: values.get(group_id, group_id) for name, group_id in groups.items()}


async def system_groups(reader: Reader, realm_id: int) -> dict[int, SystemGroup]:
    """The realm's system groups by id."""
    rows = await reader.fetch("select id, name from user_group where realm_id = $1 and is_system", realm_id)
    return {row["id"]: SystemGroup(row["name"]) for row in rows}


async def values_of(reader: Reader, group_ids: Sequence[int]) -> dict[int, GroupValue]:
    """Stored values as the API shows them: integers for named groups, lists for anonymous ones."""
    sql = """
    select id, name is null as is_anonymous,
        array(select user_id from group_member join account on account.id = user_id
              where group_id = user_group.id and account.is_active order by user_id) as members,
        array(select subgroup_id from group_subgroup where group_id = user_group.id order by subgroup_id) as subgroups
    from user_group where id = any($1::bigint[]) and name is null
    """
    anonymous = {
        row["id"]: GroupMembers(row["members"], row["subgroups"])
        for row in await reader.fetch(sql, list(set(group_ids)))
    }
    return {group_id: anonymous.get(group_id, group_id) for group_id in group_ids}


class _Named(msgspec.Struct, frozen=True):
    id: int
    is_deactivated: bool


async def store_value(tx: Transaction, realm_id: int, rule: SettingRule, value: GroupValue) -> int:
    """Check a new value of a setting and store it; the id of the group that holds it."""
    systems = await system_groups(tx, realm_id)
    nobody = next(group_id for group_id, name in systems.items() if name is SystemGroup.NOBODY)
    value = canonical(value, nobody)
    await check_exists(tx, realm_id, value)
    check_allowed(rule, value, systems)
    return value if isinstance(value, int) else await _insert_anonymous(tx, realm_id, value)


async def check_exists(reader: Reader, realm_id: int, value: GroupValue) -> None:
    """Refuse a value that names groups or users that are unknown or deactivated."""
    groups = [value] if isinstance(value, int) else value.direct_subgroups
    sql = """
    select id, is_deactivated from user_group where realm_id = $1 and id = any($2::bigint[]) and name is not null
    for share
    """
    named = {row["id"]: _Named(**row) for row in await reader.fetch(sql, realm_id, groups)}
    for group_id in groups:
        if group_id not in named:
            raise Refusal("Invalid user group" if isinstance(value, int) else f"Invalid user group ID: {group_id}")
        if named[group_id].is_deactivated:
            raise Refusal("User group is deactivated.")
    if isinstance(value, int):
        return
    sql = "select id from account where realm_id = $1 and id = any($2::bigint[]) and is_active"
    active = {row["id"] for row in await reader.fetch(sql, realm_id, value.direct_members)}
    for user_id in value.direct_members:
        if user_id not in active:
            raise Refusal(f"Invalid user ID: {user_id}")


async def _insert_anonymous(tx: Transaction, realm_id: int, value: GroupMembers) -> int:
    sql = """
    with made as (insert into user_group (realm_id, name) values ($1, null) returning id),
    members as (
        insert into group_member (realm_id, group_id, user_id)
        select $1, made.id, user_id from made, unnest($2::bigint[]) as user_id
    ), subgroups as (
        insert into group_subgroup (realm_id, group_id, subgroup_id)
        select $1, made.id, subgroup_id from made, unnest($3::bigint[]) as subgroup_id
    )
    select id from made
    """
    return int(await tx.fetchval(sql, realm_id, value.direct_members, value.direct_subgroups))
