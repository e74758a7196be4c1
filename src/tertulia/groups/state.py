"""The groups' part of POST /register."""

from typing import Any

from tertulia.events.register import Wanted, provider
from tertulia.groups.records import group_records
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings


@provider("realm_user_groups")
async def realm_user_groups(reader: Reader, caller: Caller, wanted: Wanted, _settings: Settings) -> dict[str, Any]:
    """All groups of the organization; deactivated ones for clients that know such."""
    known = wanted.options.capabilities.include_deactivated_groups
    found = await group_records(reader, caller.realm_id, include_deactivated=known)
    if caller.is_nobody:  # settings name the system groups; who made which other group is nothing for the public
        found = [group for group in found if group.is_system_group]
    return {"realm_user_groups": found}
