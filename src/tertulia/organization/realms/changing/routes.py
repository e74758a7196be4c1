"""PATCH /realm: the organization's name, its settings, and who holds its permissions."""

from tertulia.kernel.auth import Administrator
from tertulia.kernel.db import Transaction
from tertulia.kernel.endpoint import patch
from tertulia.kernel.extra_parameters import extra_parameters, only_kept
from tertulia.organization.groups import settings as permissions
from tertulia.organization.groups.values import ChangedValue
from tertulia.organization.realms.changing.actions import ChannelCheck, change_realm
from tertulia.organization.realms.settings import CHANGEABLE, ONLY_KEPT

_PERMISSIONS = only_kept(dict.fromkeys(permissions.REALM_SETTINGS, ChangedValue), permissions.ONLY_KEPT)


@patch("/realm")
@extra_parameters(only_kept(CHANGEABLE, ONLY_KEPT) | _PERMISSIONS)
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
