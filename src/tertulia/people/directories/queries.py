"""SQL of the directories feature: one statement per function."""

from collections.abc import Sequence

import msgspec

from tertulia.kernel.db import Reader, Transaction
from tertulia.people.logins.queries import LDAP


async def get_role(reader: Reader, user_id: int) -> int:
    """The role of an account that exists."""
    return int(await reader.fetchval("select role from account where id = $1", user_id))


async def groups_with(reader: Reader, user_id: int, group_ids: Sequence[int]) -> set[int]:
    """Which of these groups the user is in directly."""
    sql = "select group_id from group_member where user_id = $1 and group_id = any($2::bigint[])"
    return {row["group_id"] for row in await reader.fetch(sql, user_id, group_ids)}


class KnownPerson(msgspec.Struct, frozen=True):
    """An active account of somebody from the directory."""

    id: int
    email: str
    full_name: str
    role: int
    subjects: tuple[str, ...]
    """What the directory calls them: several, if their entry was made anew."""


async def known_people(reader: Reader, realm_id: int) -> list[KnownPerson]:
    """The people of an organization who came from its directory and are active, in the order of their ids."""
    sql = f"""
    select account.id, email, full_name, role, array_agg(subject) as subjects
    from account join external_identity on external_identity.user_id = account.id
    where external_identity.realm_id = $1 and provider = '{LDAP}' and is_active and bot_type is null
    group by account.id order by account.id
    """
    rows = [dict(row) for row in await reader.fetch(sql, realm_id)]
    return [KnownPerson(subjects=tuple(row.pop("subjects")), **row) for row in rows]


async def claim_sync(tx: Transaction, realm_id: int, minutes: int) -> bool:
    """Whether it is time to compare, and nobody else does; then it is claimed."""
    sql = """
    insert into directory_sync (realm_id, started) values ($1, now())
    on conflict (realm_id) do update set started = now()
    where directory_sync.started <= now() - make_interval(mins => $2)
    returning true
    """
    return bool(await tx.fetchval(sql, realm_id, minutes))
