"""Groups as the API shows them, in a number of statements that does not depend on how many there are."""

from collections.abc import Sequence

from tertulia.kernel.db import Reader
from tertulia.kernel.joined import together
from tertulia.organization.groups import queries
from tertulia.organization.groups.holders import load_systems, values_of
from tertulia.organization.groups.model import Group, GroupRecord
from tertulia.organization.groups.roles import RoleMembers
from tertulia.organization.groups.system import SystemGroup, held_group
from tertulia.organization.groups.values import GroupValue


async def group_records(
    reader: Reader,
    realm_id: int,
    roles: RoleMembers,
    *,
    include_deactivated: bool,
    ids: Sequence[int] | None = None,
) -> list[GroupRecord]:
    """The groups of a realm, or those with these ids, by id; deactivated users left out."""
    groups = await queries.named_groups(reader, realm_id, include_deactivated=include_deactivated, ids=ids)
    own = [group.id for group in groups if not group.is_system]
    values, members, subgroups, (held, chain) = await together(
        values_of(reader, [holder for group in groups for holder in group.holders.values()]),
        queries.direct_members(reader, own),
        queries.direct_subgroups(reader, own),
        _system_parts(reader, realm_id, roles, are_wanted=len(own) < len(groups)),
    )
    members, subgroups = members | held, subgroups | chain
    return [_record(group, values, members.get(group.id, []), subgroups.get(group.id, [])) for group in groups]


async def group_record(reader: Reader, realm_id: int, group_id: int) -> GroupRecord:
    """The record of a group that exists."""
    [found] = await group_records(reader, realm_id, RoleMembers(), include_deactivated=True, ids=[group_id])
    return found


async def _system_parts(
    reader: Reader, realm_id: int, roles: RoleMembers, *, are_wanted: bool
) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """The direct members and the direct subgroups of system groups, by the group's id."""
    if not are_wanted:
        return {}, {}
    by_id, members = await together(load_systems(reader, realm_id), roles.load(reader, realm_id))
    systems = {name: group_id for group_id, name in by_id.names.items()}
    return {group_id: members.get(name, []) for name, group_id in systems.items()}, system_chain(systems)


def system_chain(systems: dict[SystemGroup, int]) -> dict[int, list[int]]:
    """The direct subgroups of system groups: each holds the one before it."""
    held = {group_id: held_group(group) for group, group_id in systems.items()}
    return {group_id: [systems[below]] for group_id, below in held.items() if below is not None}


def _record(group: Group, values: dict[int, GroupValue], members: list[int], subgroups: list[int]) -> GroupRecord:
    return GroupRecord(
        id=group.id,
        name=group.name,
        description=group.description,
        date_created=group.date_created,
        creator_id=group.creator_id,
        members=members,
        direct_subgroup_ids=subgroups,
        is_system_group=group.is_system,
        deactivated=group.is_deactivated,
        **{setting: values[holder] for setting, holder in group.holders.items()},
    )
