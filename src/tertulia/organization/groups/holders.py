"""Who holds a setting: values as they are stored, shown and replaced.

A setting names a group, its holder: a named group, or an anonymous one that belongs to this setting alone and goes with it.
A named group is locked while a new value names it, so that nobody deactivates it meanwhile.
"""

from collections.abc import Sequence

import msgspec

from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.organization.groups import queries, statements
from tertulia.organization.groups.rules import group_deactivated, no_such_group
from tertulia.organization.groups.settings import SettingRule
from tertulia.organization.groups.system import SystemGroup
from tertulia.organization.groups.values import (
    ChangedValue,
    GroupMembers,
    GroupValue,
    canonical,
    check_allowed,
    check_expected,
)


class Systems(msgspec.Struct, frozen=True):
    """The system groups of a realm."""

    names: dict[int, SystemGroup]

    def id_of(self, name: SystemGroup | str) -> int:
        """The id of a system group."""
        return next(group_id for group_id, group in self.names.items() if group == name)

    @property
    def nobody(self) -> int:
        """The id of the group without members."""
        return self.id_of(SystemGroup.NOBODY)


async def load_systems(reader: Reader, realm_id: int) -> Systems:
    """The realm's system groups."""
    return Systems(await queries.system_groups(reader, realm_id))


async def values_of(reader: Reader, group_ids: Sequence[int]) -> dict[int, GroupValue]:
    """Holders as the API shows them: integers for named groups, lists for anonymous ones."""
    anonymous = await queries.anonymous_groups(reader, set(group_ids))
    return {group_id: anonymous.get(group_id, group_id) for group_id in group_ids}


async def store_value(
    tx: Transaction, realm_id: int, rule: SettingRule, value: GroupValue, systems: Systems | None = None
) -> int:
    """Check a new value of a setting and store it; returns the id of its holder."""
    systems = systems or await load_systems(tx, realm_id)
    value = canonical(value, systems.nobody)
    await check_exists(tx, realm_id, value)
    check_allowed(rule, value, systems.names)
    return value if isinstance(value, int) else await statements.insert_anonymous(tx, realm_id, value)


async def change_value(
    tx: Transaction, realm_id: int, rule: SettingRule, holder: int, change: ChangedValue, systems: Systems
) -> int:
    """Store a new value unless it is the current one; returns the id of the holder afterwards.

    The old holder stays: whoever writes the new id to its place calls `discard` in the end.
    """
    current = canonical((await values_of(tx, [holder]))[holder], systems.nobody)
    check_expected(change, current, systems.nobody)
    if canonical(change.new, systems.nobody) == current:
        return holder
    return await store_value(tx, realm_id, rule, change.new, systems)


async def discard(tx: Transaction, holders: Sequence[int]) -> None:
    """Remove holders that no setting names any more, as far as they are anonymous. Comes after all accounts that new values name:
    whoever turns somebody off or on holds their account first, and then the values that name them."""
    if holders:
        await statements.delete_anonymous_groups(tx, holders)


async def check_exists(tx: Transaction, realm_id: int, value: GroupValue) -> None:
    """Refuse a value that names groups or users that are unknown or deactivated."""
    groups = [value] if isinstance(value, int) else value.direct_subgroups
    found = await queries.lock_named(tx, realm_id, groups) if groups else {}
    for group_id in groups:
        if group_id not in found:
            raise no_such_group() if isinstance(value, int) else Refusal(f"Invalid user group ID: {group_id}")
        if found[group_id]:
            raise group_deactivated()
    if isinstance(value, GroupMembers):
        await check_users(tx, realm_id, value.direct_members)


async def check_users(tx: Transaction, realm_id: int, user_ids: Sequence[int]) -> None:
    """Refuse users who are unknown or deactivated."""
    if not user_ids:
        return
    active = await queries.hold_active_users(tx, realm_id, user_ids)
    for user_id in user_ids:
        if user_id not in active:
            raise Refusal(f"Invalid user ID: {user_id}")
