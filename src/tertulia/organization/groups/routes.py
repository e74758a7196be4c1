"""Endpoints of the groups feature."""

from typing import Annotated, Any

import msgspec

from tertulia.kernel.auth import Member, Person
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.endpoint import delete, get, patch, post
from tertulia.kernel.errors import Refusal
from tertulia.kernel.extra_parameters import extra_parameters
from tertulia.organization.groups import actions, queries
from tertulia.organization.groups.access import get_group
from tertulia.organization.groups.actions import Changes, Edit, Plan
from tertulia.organization.groups.holders import load_systems
from tertulia.organization.groups.records import group_record, group_records
from tertulia.organization.groups.rights import is_member
from tertulia.organization.groups.roles import RoleMembers
from tertulia.organization.groups.rules import MAX_DESCRIPTION_LENGTH
from tertulia.organization.groups.settings import GROUP_SETTINGS
from tertulia.organization.groups.system import system_subgroups
from tertulia.organization.groups.values import ChangedValue, GroupValue

Description = Annotated[str, msgspec.Meta(max_length=MAX_DESCRIPTION_LENGTH)]
UserIds = Annotated[list[int], msgspec.Meta(max_length=100_000)]
GroupIds = Annotated[list[int], msgspec.Meta(max_length=10_000)]


@get("/user_groups")
async def get_groups(
    caller: Member, reader: Reader, roles: RoleMembers, *, include_deactivated_groups: bool = False
) -> dict[str, Any]:
    """All groups of the organization, system groups too."""
    found = await group_records(reader, caller.realm_id, roles, include_deactivated=include_deactivated_groups)
    return {"user_groups": found}


@post("/user_groups/create")
@extra_parameters(dict.fromkeys(GROUP_SETTINGS, GroupValue))
async def create_group(
    caller: Member,
    tx: Transaction,
    *,
    name: str,
    description: Description,
    members: UserIds,
    subgroups: GroupIds | None = None,
    **chosen: Any,
) -> dict[str, int]:
    """Make a group. Its first members and subgroups may be any, whatever its settings say."""
    settings = {setting: value for setting, value in chosen.items() if value is not None}
    group_id = await actions.create_group(tx, caller, Plan(name, description, members, subgroups or [], settings))
    return {"group_id": group_id}


@patch("/user_groups/{user_group_id}")
@extra_parameters(dict.fromkeys(GROUP_SETTINGS, ChangedValue))
async def change_group(
    caller: Member,
    tx: Transaction,
    *,
    user_group_id: int,
    name: str | None = None,
    description: Description | None = None,
    deactivated: bool | None = None,
    **chosen: Any,
) -> None:
    """Change a group, or reactivate it with `deactivated` = false (true has no effect)."""
    wanted = {setting: change for setting, change in chosen.items() if change is not None}
    changes = Changes(name, description, deactivated, wanted)
    if changes.are_none:
        raise Refusal("Nothing to change was sent.")
    await actions.change_group(tx, caller, user_group_id, changes)


@post("/user_groups/{user_group_id}/deactivate")
async def deactivate_group(caller: Person, tx: Transaction, *, user_group_id: int) -> None:
    """Deactivate a group. Refused while something that is in use refers to it; `objections` says what."""
    await actions.deactivate_group(tx, caller, user_group_id)


@delete("/user_groups/{user_group_id}")
async def remove_group(caller: Person, tx: Transaction, *, user_group_id: int) -> None:
    """Deactivate a group, as some existing clients do it. It can be reactivated."""
    await actions.deactivate_group(tx, caller, user_group_id)


@post("/user_groups/{user_group_id}/members")
async def edit_members(
    caller: Member,
    tx: Transaction,
    *,
    user_group_id: int,
    add: UserIds | None = None,
    delete: UserIds | None = None,
    add_subgroups: GroupIds | None = None,
    delete_subgroups: GroupIds | None = None,
) -> None:
    """Add and remove direct members and subgroups, all or nothing."""
    await actions.edit_group(tx, caller, user_group_id, Edit(add, delete, add_subgroups, delete_subgroups))


@post("/user_groups/{user_group_id}/subgroups")
async def edit_subgroups(
    caller: Member,
    tx: Transaction,
    *,
    user_group_id: int,
    add: GroupIds | None = None,
    delete: GroupIds | None = None,
) -> None:
    """Add and remove direct subgroups, all or nothing."""
    await actions.edit_group(tx, caller, user_group_id, Edit(add_subgroups=add, remove_subgroups=delete))


@get("/user_groups/{user_group_id}/members")
async def get_members(
    caller: Member, reader: Reader, *, user_group_id: int, direct_member_only: bool = False
) -> dict[str, list[int]]:
    """Who belongs to a group: everybody, or the direct members only."""
    group = await get_group(reader, caller, user_group_id)
    if direct_member_only:
        return {"members": (await group_record(reader, caller.realm_id, group.id)).members}
    return {"members": await queries.all_members(reader, caller.realm_id, [group.id])}


@get("/user_groups/{user_group_id}/members/{user_id}")
async def get_membership(
    caller: Member, reader: Reader, *, user_group_id: int, user_id: int, direct_member_only: bool = False
) -> dict[str, bool]:
    """Whether a user belongs to a group."""
    group = await get_group(reader, caller, user_group_id)
    is_active = await queries.find_active(reader, caller.realm_id, user_id)
    if is_active is None:
        raise Refusal("There is no such user.")
    if not is_active:
        raise Refusal("This user is deactivated.")
    if direct_member_only:
        return {"is_user_group_member": user_id in (await group_record(reader, caller.realm_id, group.id)).members}
    return {"is_user_group_member": await is_member(reader, user_id, group.id)}


@get("/user_groups/{user_group_id}/subgroups")
async def get_subgroups(
    caller: Member, reader: Reader, *, user_group_id: int, direct_subgroup_only: bool = False
) -> dict[str, list[int]]:
    """The groups that are parts of a group: all, or the direct ones only."""
    group = await get_group(reader, caller, user_group_id)
    if direct_subgroup_only:
        return {"subgroups": (await group_record(reader, caller.realm_id, group.id)).direct_subgroup_ids}
    systems = await load_systems(reader, caller.realm_id)
    found = await queries.all_subgroups(reader, [group.id])
    for reached in found & systems.names.keys():
        found |= {systems.id_of(below) for below in system_subgroups(systems.names[reached])}
    return {"subgroups": sorted(found - {group.id})}
