"""May they? The one place that answers, for one user or for many.

The walk through nested groups is the SQL function `is_group_member` (first_release/organization.sql), so that the very same
answer can be had inside any other statement: rights that must hold at the moment of a write are asked for in that write.
Nothing is taken from what the caller was when the request came in; role and groups are those of the statement.
"""

from collections.abc import Iterable, Sequence

from tertulia.kernel.auth import Caller, DirectoryClient
from tertulia.kernel.compat import old_policies
from tertulia.kernel.db import Reader
from tertulia.kernel.errors import Refusal
from tertulia.kernel.joined import together
from tertulia.organization.groups import queries
from tertulia.organization.groups.holders import load_systems, values_of
from tertulia.organization.groups.model import Group
from tertulia.organization.groups.rules import PERMITS, GroupAction
from tertulia.organization.groups.settings import GROUP_SETTINGS, REALM_SETTINGS
from tertulia.organization.groups.values import GroupValue

DIRECTORY_HOLDS = frozenset({"can_create_groups", "can_manage_all_groups"})
"""The permissions of a directory, which has no account that could be in a group."""


async def is_member(reader: Reader, user_id: int, group_id: int) -> bool:
    """Whether the user belongs to the group, at any depth."""
    return bool(await reader.fetchval("select is_group_member($1, $2)", user_id, group_id))


async def members_among(reader: Reader, group_id: int, user_ids: Sequence[int]) -> set[int]:
    """Which of these users belong to the group."""
    return await queries.members_among(reader, group_id, user_ids)


async def holds(reader: Reader, caller: Caller, setting: str) -> bool:
    """Whether the caller holds a permission of the organization."""
    return await _holds_any(reader, caller.realm_id, caller, [setting], [])


async def check_holds(reader: Reader, caller: Caller, setting: str) -> None:
    """Refuse callers without a permission of the organization."""
    if not await holds(reader, caller, setting):
        raise Refusal("Insufficient permission")


async def may_in_group(reader: Reader, caller: Caller, group: Group, action: GroupAction) -> bool:
    """Whether the caller may do this to a group. System groups are nobody's."""
    if group.is_system:
        return False
    permits = PERMITS[action]
    holders = [(getattr(group, setting), GROUP_SETTINGS[setting].allow_everyone) for setting in permits.group_settings]
    return await _holds_any(reader, group.realm_id, caller, permits.realm_settings, holders)


async def check_may_in_group(reader: Reader, caller: Caller, group: Group, action: GroupAction) -> None:
    """Refuse callers who may not do this to a group."""
    if not await may_in_group(reader, caller, group, action):
        raise Refusal("Insufficient permission")


async def permission_values(reader: Reader, realm_id: int) -> tuple[dict[str, GroupValue], dict[str, int]]:
    """The organization's permissions as the API shows them, and the policies that older clients know them as."""
    systems, chosen = await together(load_systems(reader, realm_id), queries.permission_holders(reader, realm_id))
    holders = {name: chosen.get(name) or systems.id_of(rule.default) for name, rule in REALM_SETTINGS.items()}
    values = await values_of(reader, list(holders.values())) if chosen else {}
    policies = old_policies({name: systems.names.get(holder) for name, holder in holders.items()})
    return {name: values.get(holder, holder) for name, holder in holders.items()}, policies


async def _holds_any(
    reader: Reader, realm_id: int, caller: Caller, realm_settings: Iterable[str], holders: Sequence[tuple[int, bool]]
) -> bool:
    """Whether the caller holds one of these permissions of the realm, in one statement.

    `holders`: groups, each with whether it may give the permission to guests.
    """
    if isinstance(caller, DirectoryClient):
        return not DIRECTORY_HOLDS.isdisjoint(realm_settings)
    rules = [REALM_SETTINGS[setting] for setting in realm_settings]
    realm = [(rule.name, str(rule.default), rule.allow_everyone) for rule in rules]
    return await queries.holds_any(reader, realm_id, caller.user_id, realm, holders)
