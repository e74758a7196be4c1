"""The groups' part of POST /register."""

from typing import Any

from tertulia.events.queues.initial_state import Provider, StateRequest
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.organization.groups.queries import guests_apart
from tertulia.organization.groups.records import group_records
from tertulia.organization.groups.rights import holds
from tertulia.organization.groups.roles import RoleMembers


def realm_user_groups(roles: RoleMembers) -> Provider:
    """All groups of the organization; deactivated ones for clients that know such."""

    async def provide(reader: Reader, caller: Caller, wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
        known = wanted.options.understands("include_deactivated_groups")
        found = await group_records(reader, caller.realm_id, roles, include_deactivated=known)
        if caller.is_nobody:  # settings name the system groups; who made which other group is nothing for the public
            found = [group for group in found if group.is_system_group]
            if await guests_apart(reader, caller.realm_id, ()) is not None:
                # Visitors see whom guests of open channels would; the number of everybody, and their roles, are not among that.
                found = [group.with_members([]) for group in found]
        elif caller.is_guest and not await holds(reader, caller, "can_access_all_users_group"):
            # Who else is in a group would tell of people they do not see, and of everybody's role.
            found = [group.with_members([one for one in group.members if one == caller.user_id]) for group in found]
        return {"realm_user_groups": found}

    return Provider(frozenset(["realm_user_groups"]), provide)
