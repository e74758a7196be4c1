"""Making a group."""

import msgspec

from tertulia.kernel.auth import Caller, DirectoryClient
from tertulia.kernel.bounds import check_bytes, check_count, check_share, find_sharer
from tertulia.kernel.db import Transaction
from tertulia.organization.audit_log import Act, group, note
from tertulia.organization.groups import statements
from tertulia.organization.groups.bounds import (
    GROUPS,
    OWN_GROUP_BYTES,
    OWN_GROUP_HOLDERS,
    OWN_GROUP_MEMBERS,
    OWN_GROUPS,
    SUBGROUPS,
)
from tertulia.organization.groups.events import tell_created, tell_subgroups
from tertulia.organization.groups.holders import Systems, check_exists, load_systems, store_value
from tertulia.organization.groups.records import group_record
from tertulia.organization.groups.rights import check_holds
from tertulia.organization.groups.rules import check_group_name, name_taken
from tertulia.organization.groups.settings import CREATOR, GROUP_SETTINGS
from tertulia.organization.groups.statements import NewGroup
from tertulia.organization.groups.values import GroupMembers, GroupValue


class Plan(msgspec.Struct, frozen=True):
    """A group somebody wants."""

    name: str
    description: str
    members: list[int]
    subgroups: list[int]
    settings: dict[str, GroupValue]
    """Those that differ from the defaults."""


async def create_group(tx: Transaction, caller: Caller, plan: Plan) -> int:
    """Make a group and tell the realm; returns its id. The settings of the new group do not bind its maker."""
    await statements.lock_groups(tx, caller.realm_id)
    await check_holds(tx, caller, "can_create_groups")
    check_group_name(plan.name)
    members, subgroups = sorted(set(plan.members)), sorted(set(plan.subgroups))
    await check_exists(tx, caller.realm_id, GroupMembers(members, subgroups))
    holders = await _store_settings(tx, caller, plan, await load_systems(tx, caller.realm_id))
    creator_id = None if isinstance(caller, DirectoryClient) else caller.user_id
    new = NewGroup(caller.realm_id, plan.name, plan.description, creator_id, holders)
    group_id = await statements.insert_group(tx, new)
    if group_id is None:
        raise name_taken(plan.name)
    if creator_id is not None:
        await check_share(tx, OWN_GROUPS, creator_id)
    await check_count(tx, GROUPS, caller.realm_id, adding=0)
    await statements.insert_members(tx, caller.realm_id, group_id, members)
    await check_size(tx, caller, group_id)
    if plan.settings:
        await check_holders(tx, caller, group_id)
    await tell_created(tx, caller.realm_id, await group_record(tx, caller.realm_id, group_id))
    if subgroups:
        await statements.insert_subgroups(tx, caller.realm_id, group_id, subgroups)
        await check_count(tx, SUBGROUPS, caller.realm_id, adding=0)
        tell_subgroups(tx, caller.realm_id, "add_subgroups", group_id, subgroups)
    values = {name: (None, value) for name, value in plan.settings.items()}
    note(
        tx, caller.realm_id, Act.GROUP_CREATED, group(group_id),
        name=(None, plan.name), members=(None, members), subgroups=(None, subgroups), **values,
    )  # fmt: skip
    return group_id


async def check_size(tx: Transaction, caller: Caller, group_id: int) -> None:
    """Refuse what is too much with all groups of whoever made this one, right after it was written: everybody gets all of it."""
    if (person := await find_sharer(tx, "user_group", group_id, caller.user_id)) is not None:
        await check_bytes(tx, OWN_GROUP_BYTES, person)
        await check_count(tx, OWN_GROUP_MEMBERS, person, adding=0)


async def check_holders(tx: Transaction, caller: Caller, group_id: int) -> None:
    """The same for whom the settings name."""
    if (person := await find_sharer(tx, "user_group", group_id, caller.user_id)) is not None:
        await check_count(tx, OWN_GROUP_HOLDERS, person, adding=0)


async def _store_settings(tx: Transaction, caller: Caller, plan: Plan, systems: Systems) -> dict[str, int]:
    holders: dict[str, int] = {}
    for setting, rule in GROUP_SETTINGS.items():
        if setting in plan.settings:
            holders[setting] = await store_value(tx, caller.realm_id, rule, plan.settings[setting], systems)
        elif rule.default == CREATOR and isinstance(caller, DirectoryClient):
            holders[setting] = systems.nobody  # who manages all groups may all the same
        elif rule.default == CREATOR:
            only_creator = GroupMembers([caller.user_id], [])
            holders[setting] = await statements.insert_anonymous(tx, caller.realm_id, only_creator)
        else:
            holders[setting] = systems.id_of(rule.default)
    return holders
