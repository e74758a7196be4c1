"""Group-setting values: an integer, or members and subgroups (pure)."""

from typing import Annotated

import msgspec

from tertulia.kernel.errors import Refusal
from tertulia.organization.groups.settings import SettingRule
from tertulia.organization.groups.system import SystemGroup

Ids = Annotated[list[int], msgspec.Meta(max_length=10_000)]


class GroupMembers(msgspec.Struct, frozen=True):
    """The object form of a value: an anonymous group that belongs to one setting."""

    direct_members: Ids
    direct_subgroups: Ids


GroupValue = int | GroupMembers


class ChangedValue(msgspec.Struct, frozen=True):
    """The form of a change: the new value, and the one the caller believes to be there."""

    new: GroupValue
    old: GroupValue | None = None


def canonical(value: GroupValue, nobody_id: int) -> GroupValue:
    """One form for equal values: sorted, no repeats, the integer wherever one says the same."""
    if isinstance(value, int):
        return value
    members = sorted(set(value.direct_members))
    subgroups = sorted(set(value.direct_subgroups))
    if not members and not subgroups:
        return nobody_id
    if not members and len(subgroups) == 1:
        return subgroups[0]
    return GroupMembers(members, subgroups)


def check_expected(change: ChangedValue, current: GroupValue, nobody_id: int) -> None:
    """Refuse a change that was made on the belief in another value."""
    if change.old is not None and canonical(change.old, nobody_id) != current:
        raise Refusal("'old' value does not match the expected value.", code="EXPECTATION_MISMATCH", field_name="old")


def check_allowed(rule: SettingRule, value: GroupValue, system_names: dict[int, SystemGroup]) -> None:
    """Refuse a canonical value that this setting may not have. `system_names`: the realm's system groups by id.

    What the value may not be, it may not hold beside others either.
    """
    named = [value] if isinstance(value, int) else value.direct_subgroups
    groups = [system_names[group_id] for group_id in named if group_id in system_names]
    if rule.require_system_group and (not groups or not isinstance(value, int)):
        raise Refusal(
            f"'{rule.name}' must be a system user group.", code="SYSTEM_GROUP_REQUIRED", setting_name=rule.name
        )
    for group in groups:
        if not is_allowed(rule, group):
            raise Refusal(f"'{rule.name}' setting cannot be set to '{group}' group.")


def is_allowed(rule: SettingRule, group: SystemGroup) -> bool:
    """Whether the setting may name this system group."""
    if group in rule.forbidden:
        return False
    if rule.allowed_system_groups:
        return group in rule.allowed_system_groups
    by_name = {
        SystemGroup.INTERNET: rule.allow_internet,
        SystemGroup.EVERYONE: rule.allow_everyone,
        SystemGroup.NOBODY: rule.allow_nobody,
    }
    return by_name.get(group, True)
