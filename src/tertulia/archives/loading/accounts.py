"""People who are there already when a newer archive comes."""

from collections.abc import Sequence
from typing import Any

from tertulia.kernel.db import Transaction
from tertulia.people.bots.storage.actions import take_all
from tertulia.people.users.authentication.revocation import end_access
from tertulia.people.users.handover import Handed

_OWN = {"id", "realm_id", "password_hash", "is_imported_stub"}
"""What a newer archive does not change."""
_HANDED = """
select account.realm_id, account.id as bot_id, account.bot_owner_id as former_owner_id
from account join coming on coming.id = account.id and coming.realm_id = account.realm_id
where account.bot_type is not null and account.bot_owner_id is distinct from coming.bot_owner_id
"""


async def put_again(tx: Transaction, columns: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """As the archive has them. Who has been here keeps the password, and is no stub any more. What opens a bot ends with its
    owner, as when it is handed over: from then on somebody else reads by it."""
    names = columns.split()
    await tx.execute("create temp table coming (like account including defaults) on commit drop")
    await tx.connection.copy_records_to_table("coming", records=rows, columns=names)
    handed = await tx.fetch(_HANDED)
    # Addresses may have changed hands.
    await tx.execute("update account set email_key = 'renewed ' || account.id from coming where account.id = coming.id")
    listed = ", ".join(names)
    changed = ", ".join(f"{name} = excluded.{name}" for name in names if name not in _OWN)
    sql = f"""
    insert into account ({listed}) overriding system value select {listed} from coming order by id
    on conflict (id) do update set {changed},
        is_imported_stub = account.is_imported_stub and excluded.is_imported_stub
    where account.realm_id = excluded.realm_id
    """  # noqa: S608
    await tx.execute(sql)
    await tx.execute("drop table coming")
    await end_access(tx, [row["bot_id"] for row in handed])
    for row in handed:
        await take_all(tx, Handed(**row))


async def end_who_left(tx: Transaction, realm_id: int, user_ids: Sequence[int]) -> None:
    """Whom the archive does not have, or has as deactivated: nothing opens their accounts any more."""
    sql = """
    with gone as (
        update account set is_active = false
        where realm_id = $1 and is_active and system_bot is null and id <> all($2::bigint[]) returning id
    )
    select id from gone union select id from account where realm_id = $1 and not is_active
    """
    await end_access(tx, [row["id"] for row in await tx.fetch(sql, realm_id, user_ids)])
