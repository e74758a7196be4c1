"""The waiting period: when new members become full members.

Nobody becomes one by the passing of time alone: a realm's members are judged, and told of, in one transaction.
"""

from tertulia.kernel.db import Database, Transaction
from tertulia.organization.groups import queries, statements
from tertulia.organization.groups.events import tell_members
from tertulia.organization.groups.holders import load_systems
from tertulia.organization.groups.system import SystemGroup
from tertulia.organization.groups.visibility import end_queues_of_members


async def promote_members(database: Database) -> int:
    """Make full members of all who waited long enough; returns how many. Work of the worker."""
    async with database.transaction() as tx:
        promoted = await statements.judge_members(tx)
        for realm_id, group_id, user_ids in promoted:
            await tell_members(tx, realm_id, "add_members", group_id, user_ids)
            await end_queues_of_members(tx, realm_id, group_id, user_ids)
    return sum(len(user_ids) for _, _, user_ids in promoted)


async def change_waiting_period(tx: Transaction, realm_id: int, days: int) -> None:
    """Let new members wait for so many days from now on; some may have to wait again."""
    before = await queries.waiting_members(tx, realm_id)
    await statements.set_waiting_period(tx, realm_id, days)
    after = await queries.waiting_members(tx, realm_id)
    group_id = (await load_systems(tx, realm_id)).id_of(SystemGroup.FULL_MEMBERS)
    for op, user_ids in (("remove_members", after - before), ("add_members", before - after)):
        if user_ids:
            await tell_members(tx, realm_id, op, group_id, sorted(user_ids))
            await end_queues_of_members(tx, realm_id, group_id, sorted(user_ids))
