"""SQL of groups: one statement per function."""

from tertulia.groups.system import FACTS
from tertulia.kernel.db import Transaction

_SYSTEM_GROUPS = """
with made as (
    insert into user_group (realm_id, name, description, is_system, lowest_role, is_for_full_members, date_created)
    select $1, name, description, true, lowest_role, is_for_full_members, null
    from unnest($2::text[], $3::text[], $4::int[], $5::bool[]) with ordinality
        as system_group(name, description, lowest_role, is_for_full_members, ord)
    order by ord
    returning id, name
)
select id from made where name = 'role:nobody'
"""

_NOBODY_MAY = """
update user_group set can_add_members_group = $2, can_join_group = $2, can_leave_group = $2, can_manage_group = $2,
    can_mention_group = $2, can_remove_members_group = $2
where realm_id = $1 and is_system
"""


async def insert_system_groups(tx: Transaction, realm_id: int) -> None:
    """The groups every realm has; nobody may change them."""
    facts = list(FACTS.values())
    nobody = await tx.fetchval(
        _SYSTEM_GROUPS,
        realm_id,
        [str(group) for group in FACTS],
        [fact.description for fact in facts],
        [fact.lowest_role for fact in facts],
        [fact.is_for_full_members for fact in facts],
    )
    await tx.execute(_NOBODY_MAY, realm_id, nobody)
