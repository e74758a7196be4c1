"""Changing a group's name, description, settings, and whether it is in use."""

from typing import Any

import asyncpg
import msgspec

from tertulia.kernel.auth import Caller
from tertulia.kernel.bounds import check_count
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.organization import audit_log
from tertulia.organization.audit_log import Act, note
from tertulia.organization.groups import queries, statements
from tertulia.organization.groups.access import hold_group
from tertulia.organization.groups.actions.create import check_holders, check_size
from tertulia.organization.groups.bounds import GROUPS
from tertulia.organization.groups.events import tell_deactivated, tell_reactivated, tell_updated
from tertulia.organization.groups.holders import change_value, discard, load_systems, values_of
from tertulia.organization.groups.model import Group
from tertulia.organization.groups.queries import Objection
from tertulia.organization.groups.records import group_record
from tertulia.organization.groups.rules import GroupAction, check_group_name, group_deactivated, name_taken
from tertulia.organization.groups.settings import GROUP_SETTINGS
from tertulia.organization.groups.values import ChangedValue
from tertulia.organization.groups.visibility import end_queues_of_groups


class Changes(msgspec.Struct, frozen=True):
    """What somebody wants to be different; None means as it is."""

    name: str | None
    description: str | None
    deactivated: bool | None
    settings: dict[str, ChangedValue]

    @property
    def are_none(self) -> bool:
        """Whether nothing was named at all."""
        return self.name is None and self.description is None and self.deactivated is None and not self.settings


async def change_group(tx: Transaction, caller: Caller, group_id: int, changes: Changes) -> None:
    """Change a group, all or nothing. Only the reactivation looks at whether the group is in use."""
    group = await hold_group(tx, caller, group_id, GroupAction.MANAGE)
    if changes.name is not None and changes.name != group.name:
        await _rename(tx, caller.realm_id, group, changes.name)
    if changes.description is not None and changes.description != group.description:
        await statements.describe_group(tx, group.id, changes.description)
        await check_size(tx, caller, group.id)
        _note(tx, Act.GROUP_CHANGED, group, description=(group.description, changes.description))
        _tell(tx, caller.realm_id, group, description=changes.description)
    if changes.deactivated is False and group.is_deactivated:
        await statements.set_deactivated(tx, group.id, is_deactivated=False)
        await check_count(tx, GROUPS, caller.realm_id, adding=0)
        _note(tx, Act.GROUP_REACTIVATED, group, is_deactivated=(True, False))
        await tell_reactivated(tx, caller.realm_id, await group_record(tx, caller.realm_id, group.id))
        await end_queues_of_groups(tx, caller.realm_id, group.id, [group.id])
        group = msgspec.structs.replace(group, is_deactivated=False)
    if changes.settings:
        await _change_settings(tx, caller.realm_id, group, changes.settings)
        await check_holders(tx, caller, group.id)


async def deactivate_group(tx: Transaction, caller: Caller, group_id: int) -> None:
    """Take a group out of use, unless something that is in use names it."""
    group = await hold_group(tx, caller, group_id, GroupAction.MANAGE)
    if group.is_deactivated:
        raise group_deactivated()
    if found := await queries.objections(tx, caller.realm_id, group_id):
        raise Refusal(
            "This user group is in use, so it can't be deactivated.",
            code="CANNOT_DEACTIVATE_GROUP_IN_USE",
            objections=say_objections(found),
        )
    # Archived channels may name it all the same, and who is in it loses sight of them. Asked before: nobody is in it afterwards.
    await end_queues_of_groups(tx, caller.realm_id, group_id, [group_id])
    await statements.set_deactivated(tx, group_id, is_deactivated=True)
    tell_deactivated(tx, caller.realm_id, group_id)
    _note(tx, Act.GROUP_DEACTIVATED, group, is_deactivated=(False, True))


async def _rename(tx: Transaction, realm_id: int, group: Group, name: str) -> None:
    check_group_name(name)
    try:
        await statements.rename_group(tx, group.id, name)
    except asyncpg.UniqueViolationError as error:
        raise name_taken(name) from error
    _tell(tx, realm_id, group, name=name)
    _note(tx, Act.GROUP_CHANGED, group, name=(group.name, name))


async def _change_settings(tx: Transaction, realm_id: int, group: Group, changes: dict[str, ChangedValue]) -> None:
    systems = await load_systems(tx, realm_id)
    replaced = []
    for setting, change in changes.items():
        old = group.holders[setting]
        new = await change_value(tx, realm_id, GROUP_SETTINGS[setting], old, change, systems)
        if new != old:
            values = await values_of(tx, [old, new])
            await statements.set_holder(tx, group.id, setting, new)
            replaced.append(old)
            _tell(tx, realm_id, group, **{setting: values[new]})
            _note(tx, Act.GROUP_CHANGED, group, **{setting: (values[old], values[new])})
    await discard(tx, replaced)


def _note(tx: Transaction, act: Act, group: Group, **changes: audit_log.Change) -> None:
    note(tx, group.realm_id, act, audit_log.group(group.id), **changes)


def _tell(tx: Transaction, realm_id: int, group: Group, **data: Any) -> None:
    tell_updated(tx, realm_id, group.id, data, is_deactivated=group.is_deactivated)


def say_objections(found: list[Objection]) -> list[dict[str, Any]]:
    """The uses of a group, those of one user together: one entry for all supergroups, one per channel and group."""
    supergroups = [use.id for use in found if use.kind == "subgroup"]
    said: list[dict[str, Any]] = [{"type": "subgroup", "supergroup_ids": supergroups}] if supergroups else []
    entries: dict[tuple[str, int | None], dict[str, Any]] = {}
    for use in found:
        if use.kind == "subgroup":
            continue
        key = {"channel": "channel_id", "user_group": "group_id"}.get(use.kind)
        entry = entries.setdefault(
            (use.kind, use.id), {"type": use.kind} | ({key: use.id} if key else {}) | {"settings": []}
        )
        entry["settings"].append(use.setting)
    return [*said, *entries.values()]
