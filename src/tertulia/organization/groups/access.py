"""The one way to a group: of another realm, or without a name, it does not exist."""

from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader, Transaction
from tertulia.organization.groups import queries, statements
from tertulia.organization.groups.model import Group
from tertulia.organization.groups.rights import check_may_in_group
from tertulia.organization.groups.rules import GroupAction, group_deactivated, no_such_group


async def get_group(reader: Reader, caller: Caller, group_id: int) -> Group:
    """A group in use, to look at."""
    group = await queries.find_group(reader, caller.realm_id, group_id)
    if group is None:
        raise no_such_group()
    if group.is_deactivated:
        raise group_deactivated()
    return group


async def hold_group(tx: Transaction, caller: Caller, group_id: int, *actions: GroupAction) -> Group:
    """A group, deactivated or not, that the caller may do all this to. It does not change until the commit."""
    await statements.lock_groups(tx, caller.realm_id)
    group = await queries.lock_group(tx, caller.realm_id, group_id)
    if group is None:
        raise no_such_group()
    for action in actions:
        await check_may_in_group(tx, caller, group, action)
    return group
