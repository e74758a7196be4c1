"""What a change of role, or coming and going, means for groups: nothing is stored, but the world must hear of it.

The members of system groups follow from the role. Deactivated users keep their places in all other groups, but are
not shown there.
"""

from tertulia.kernel.db import Transaction
from tertulia.organization.groups import queries
from tertulia.organization.groups.events import tell_members, tell_permissions, tell_updated
from tertulia.organization.groups.holders import values_of
from tertulia.organization.groups.system import SystemGroup, direct_groups
from tertulia.organization.groups.visibility import tell_channel_values


async def tell_role_change(
    tx: Transaction, realm_id: int, user_id: int, old_role: int | None, new_role: int | None
) -> None:
    """Tell of a user's new role, after it was stored.

    `old_role` None: the account was made or came back; `new_role` None: it was deactivated.
    """
    if old_role == new_role:
        return
    standing = await queries.standing_of(tx, realm_id, user_id)
    old = direct_groups(old_role, waiting=standing.is_waiting) if old_role is not None else []
    new = direct_groups(new_role, waiting=standing.is_waiting) if new_role is not None else []
    for op, left, right in (("remove_members", old, new), ("add_members", new, old)):
        for name in left:
            if name not in right:
                await tell_members(tx, realm_id, op, standing.group_ids[SystemGroup(name)], [user_id])
    if old_role is None or new_role is None:
        await _tell_places(tx, realm_id, user_id, "add_members" if old_role is None else "remove_members")


async def _tell_places(tx: Transaction, realm_id: int, user_id: int, op: str) -> None:
    """Tell of the groups and settings that name a user who came back or went."""
    places = await queries.places_of(tx, user_id)
    for group in places:
        if not group.is_anonymous:
            await tell_members(tx, realm_id, op, group.id, [user_id], is_deactivated=group.is_deactivated)
    # Without that a value that is being replaced would be told of after the new one.
    anonymous = await queries.hold_anonymous(tx, [group.id for group in places if group.is_anonymous])
    if not anonymous:
        return
    values = await values_of(tx, anonymous)
    for use in await queries.group_uses(tx, realm_id, anonymous):
        data = {use.setting: values[use.holder]}
        tell_updated(tx, realm_id, use.group_id, data, is_deactivated=use.is_deactivated)
    await tell_channel_values(tx, realm_id, values)
    permissions = await queries.permission_uses(tx, realm_id, anonymous)
    if permissions:
        tell_permissions(tx, realm_id, {setting: values[holder] for setting, holder in permissions.items()})
