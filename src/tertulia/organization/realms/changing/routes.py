"""PATCH /realm: the organization's name, its settings, and who holds its permissions."""

from tertulia.kernel.auth import Administrator
from tertulia.kernel.db import Transaction
from tertulia.kernel.endpoint import patch
from tertulia.kernel.extra_parameters import extra_parameters
from tertulia.organization.groups.settings import REALM_SETTINGS
from tertulia.organization.groups.values import ChangedValue
from tertulia.organization.realms.changing.actions import ChannelCheck, change_realm
from tertulia.organization.realms.settings import CHANGEABLE


@patch("/realm")
@extra_parameters(CHANGEABLE | dict.fromkeys(REALM_SETTINGS, ChangedValue))
async def change_organization(
    caller: Administrator,
    tx: Transaction,
    channels: ChannelCheck,
    *,
    name: str | None = None,
    description: str | None = None,
    **chosen: object,
) -> None:
    """Change the organization's settings. Some of them only owners may change."""
    wanted = chosen | {"name": name, "description": description}
    await change_realm(tx, caller, channels, {key: value for key, value in wanted.items() if value is not None})
