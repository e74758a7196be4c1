"""What can be done to groups, one file per kind of change. Everything here runs in the caller's transaction."""

from tertulia.organization.groups.actions.change import Changes, change_group, deactivate_group
from tertulia.organization.groups.actions.create import Plan, create_group
from tertulia.organization.groups.actions.members import Edit, edit_deactivated, edit_group, place_members
from tertulia.organization.groups.actions.permissions import change_permissions
from tertulia.organization.groups.actions.roles import tell_role_change
from tertulia.organization.groups.actions.waiting import change_waiting_period, promote_members

__all__ = [
    "Changes", "Edit", "Plan", "change_group", "change_permissions", "change_waiting_period", "create_group", "deactivate_group",
    "edit_deactivated", "edit_group", "place_members", "promote_members", "tell_role_change",
]  # fmt: skip
