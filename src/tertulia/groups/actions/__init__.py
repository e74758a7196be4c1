"""What can be done to groups, one file per kind of change. Everything here runs in the caller's transaction."""

from tertulia.groups.actions.change import Changes, change_group, deactivate_group
from tertulia.groups.actions.create import Plan, create_group
from tertulia.groups.actions.members import Edit, edit_group
from tertulia.groups.actions.permissions import change_permissions
from tertulia.groups.actions.roles import tell_role_change
from tertulia.groups.actions.waiting import change_waiting_period, promote_members

__all__ = [
    "Changes", "Edit", "Plan", "change_group", "change_permissions", "change_waiting_period", "create_group", "deactivate_group",
    "edit_group", "promote_members", "tell_role_change",
]  # fmt: skip
