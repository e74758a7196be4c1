"""SQL of groups as a directory sees them: one statement per function."""

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from tertulia.integrations.scim.columns import Column, Condition
from tertulia.kernel.db import Reader, Transaction

# Groups with a name that people gave them, and that are in use.
_SEEN = """
user_group.realm_id = $1 and user_group.name is not null and not user_group.is_system and not user_group.is_deactivated
"""
_FROM = "user_group left join scim_group on scim_group.group_id = user_group.id"
_COLUMNS = """
user_group.id, user_group.name, scim_group.external_id,
to_char(user_group.date_created at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as created
"""
# People whom a directory sees (users/queries.py).
_IS_SEEN_PERSON = "account.bot_type is null and (account.is_active or scim_user.is_deleted is not true)"
_MEMBER = Column(
    "",
    equals=f"""
    exists (
        select from group_member join account on account.id = group_member.user_id
        left join scim_user on scim_user.user_id = account.id
        where group_member.group_id = user_group.id and account.id::text = {{}} and {_IS_SEEN_PERSON}
    )
    """,
)

COLUMNS = {
    "id": Column("user_group.id::text"),
    "externalid": Column(
        "scim_group.external_id",
        equals="user_group.id in (select group_id from scim_group where realm_id = $1 and external_id = {})",
    ),
    "displayname": Column("user_group.name"),
    "members": _MEMBER,
    "members.value": _MEMBER,
    "meta.created": Column("user_group.date_created", "time"),
}
"""By the attributes of a filter."""


class GroupRow(msgspec.Struct, frozen=True):
    """A group, with what a directory calls it."""

    id: int
    name: str
    external_id: str | None
    created: str | None


class MemberRow(msgspec.Struct, frozen=True):
    """A person in a group."""

    id: int
    is_active: bool


async def find_group(reader: Reader, realm_id: int, group_id: int) -> GroupRow | None:
    """A group that a directory sees."""
    sql = f"select {_COLUMNS} from {_FROM} where {_SEEN} and user_group.id = $2"
    row = await reader.fetchrow(sql, realm_id, group_id)
    return GroupRow(**row) if row else None


async def find_deleted(reader: Reader, realm_id: int, name: str) -> int | None:
    """The group of that name that a directory has deleted."""
    sql = """
    select id from user_group join scim_group on scim_group.group_id = user_group.id
    where user_group.realm_id = $1 and name = $2 and is_deactivated and scim_group.is_deleted
    """
    found: int | None = await reader.fetchval(sql, realm_id, name)
    return found


async def count_groups(reader: Reader, realm_id: int, condition: Condition) -> int:
    """How many groups fulfil a condition."""
    sql = f"select count(*) from {_FROM} where {_SEEN} and {condition.sql}"
    return int(await reader.fetchval(sql, realm_id, *condition.arguments))


async def list_groups(reader: Reader, realm_id: int, condition: Condition, limit: int, offset: int) -> list[GroupRow]:
    """A page of the groups that fulfil a condition, by their ids."""
    last = len(condition.arguments) + 1
    sql = f"""
    select {_COLUMNS} from {_FROM} where {_SEEN} and {condition.sql}
    order by user_group.id limit ${last + 1} offset ${last + 2}
    """
    return [GroupRow(**row) for row in await reader.fetch(sql, realm_id, *condition.arguments, limit, offset)]


async def members_of(reader: Reader, group_ids: Sequence[int]) -> dict[int, list[MemberRow]]:
    """The people who are in groups directly, deactivated ones too."""
    sql = f"""
    select group_id, account.id, account.is_active
    from group_member join account on account.id = group_member.user_id
    left join scim_user on scim_user.user_id = account.id
    where group_id = any($1::bigint[]) and {_IS_SEEN_PERSON} order by group_id, account.id
    """
    found: defaultdict[int, list[MemberRow]] = defaultdict(list)
    for row in await reader.fetch(sql, group_ids):
        found[row["group_id"]].append(MemberRow(row["id"], row["is_active"]))
    return found


async def sizes_of(reader: Reader, group_ids: Sequence[int]) -> dict[int, int]:
    """How many are in groups directly, of those who have members."""
    sql = "select group_id, count(*) as size from group_member where group_id = any($1::bigint[]) group by group_id"
    return {row["group_id"]: row["size"] for row in await reader.fetch(sql, group_ids)}


async def are_members(reader: Reader, group_id: int, user_ids: Sequence[int]) -> set[int]:
    """Which of these people are in a group directly."""
    sql = "select user_id from group_member where group_id = $1 and user_id = any($2::bigint[])"
    return {row["user_id"] for row in await reader.fetch(sql, group_id, user_ids)}


async def hold_people(tx: Transaction, realm_id: int, user_ids: Sequence[int]) -> dict[int, bool]:
    """Whether people whom a directory sees are active; they stay so until the commit. All at once, in their order."""
    sql = f"""
    select account.id, account.is_active from account left join scim_user on scim_user.user_id = account.id
    where account.realm_id = $1 and account.id = any($2::bigint[]) and {_IS_SEEN_PERSON}
    order by account.id for key share of account
    """
    return {row["id"]: row["is_active"] for row in await tx.fetch(sql, realm_id, user_ids)}


async def write_external_id(tx: Transaction, realm_id: int, group_id: int, external_id: str | None) -> None:
    """Store what a directory calls a group. It is no longer deleted for it."""
    sql = """
    insert into scim_group (realm_id, group_id, external_id) values ($1, $2, $3)
    on conflict (group_id) do update set external_id = excluded.external_id, is_deleted = false
    """
    await tx.execute(sql, realm_id, group_id, external_id)


async def mark_deleted(tx: Transaction, realm_id: int, group_id: int) -> None:
    """Note that a directory has deleted a group."""
    sql = """
    insert into scim_group (realm_id, group_id, is_deleted) values ($1, $2, true)
    on conflict (group_id) do update set is_deleted = true
    """
    await tx.execute(sql, realm_id, group_id)
