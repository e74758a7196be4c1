"""Groups and role of one person, as a provider says when they log in.

Almost always nothing changes, and then nothing is held. The role and each group have transactions of their own: whoever holds
an organization's groups takes no account alone (docs/explanation/architecture.md, Locks).
"""

import structlog

from tertulia.kernel.db import Database
from tertulia.kernel.freezing import IS_FROZEN_AT
from tertulia.organization.groups.actions import Edit, place_members
from tertulia.organization.groups.queries import groups_by_name
from tertulia.people.directories import queries
from tertulia.people.directories.rules import Standing, role_after
from tertulia.people.users.actions import Changes, change_by_directory

log = structlog.get_logger()


async def follow(database: Database, realm_id: int, user_id: int, standing: Standing) -> None:
    """Bring a person's groups and role in line with what they belong to elsewhere."""
    async with database.reader() as reader:
        present = await queries.get_role(reader, user_id)
        groups = await groups_by_name(reader, realm_id, standing.decided)
        inside = await queries.groups_with(reader, user_id, list(groups.values()))
        if await reader.fetchval(IS_FROZEN_AT, realm_id, None):
            return  # they log in to read; the next login follows
    if unknown := standing.decided - groups.keys():
        log.warning("memberships name groups that the organization does not have", groups=sorted(unknown))
    if (role := role_after(present, standing)) != present:
        async with database.transaction() as tx:
            tx.respect_freeze()
            await change_by_directory(tx, realm_id, user_id, Changes(role=role))
        log.info("another role, as the provider says", user_id=user_id, role=role)
    for name, group_id in sorted(groups.items()):
        if (name in standing.groups) == (group_id in inside):
            continue
        edit = Edit(add=[user_id]) if name in standing.groups else Edit(remove=[user_id])
        async with database.transaction() as tx:
            tx.respect_freeze()
            await place_members(tx, realm_id, group_id, edit)
        log.info("another group, as the provider says", user_id=user_id, group_id=group_id, inside=bool(edit.add))
