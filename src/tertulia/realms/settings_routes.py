"""PATCH /realm: the organization's name, its settings, and who holds its permissions."""

from typing import Annotated

import msgspec

from tertulia.groups.settings import REALM_SETTINGS
from tertulia.groups.values import ChangedValue
from tertulia.kernel.auth import Administrator
from tertulia.kernel.db import Transaction
from tertulia.kernel.endpoint import patch
from tertulia.kernel.taking import taking
from tertulia.realms.changes import ChannelCheck, change_realm
from tertulia.realms.limits import MAX_REALM_DESCRIPTION_LENGTH, MAX_REALM_NAME_LENGTH
from tertulia.realms.settings import CHANGEABLE

Name = Annotated[str, msgspec.Meta(max_length=MAX_REALM_NAME_LENGTH)]
Description = Annotated[str, msgspec.Meta(max_length=MAX_REALM_DESCRIPTION_LENGTH)]


@patch("/realm")
@taking(CHANGEABLE | dict.fromkeys(REALM_SETTINGS, ChangedValue))
async def change_organization(
    caller: Administrator,
    tx: Transaction,
    channels: ChannelCheck,
    *,
    name: Name | None = None,
    description: Description | None = None,
    **chosen: object,
) -> None:
    """Change the organization's settings. Some of them only owners may change."""
    wanted = chosen | {"name": name, "description": description}
    await change_realm(tx, caller, channels, {key: value for key, value in wanted.items() if value is not None})
