"""What can be done to groups, one file per verb. Everything here runs in the caller's transaction."""

from tertulia.groups.actions.roles import tell_role_change

__all__ = ["tell_role_change"]
