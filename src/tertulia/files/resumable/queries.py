"""SQL of resumable uploads: one statement per function."""

from collections.abc import Sequence

from tertulia.files.resumable.model import Upload
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader, Transaction
from tertulia.people.users.handover import Handed

_COLUMNS = """
resumable_upload.id, resumable_upload.name, resumable_upload.size, arrived, keys, path_id, attachment.name as file_name,
expires_at
"""


async def find_upload(reader: Reader, caller: Caller, upload_id: str) -> Upload | None:
    """An upload of the caller's own that has not expired."""
    sql = f"""
    select {_COLUMNS} from resumable_upload left join attachment on attachment.id = attachment_id
    where resumable_upload.id = $1 and resumable_upload.owner_id = $2 and expires_at > now()
    """
    row = await reader.fetchrow(sql, upload_id, caller.user_id)
    return Upload(**row) if row else None


async def count_unfinished(reader: Reader, caller: Caller) -> int:
    """How many uploads of the caller's are under way."""
    sql = """
    select count(*) from resumable_upload where owner_id = $1 and attachment_id is null and expires_at > now()
    """
    return int(await reader.fetchval(sql, caller.user_id))


async def hold_space(tx: Transaction, realm_id: int) -> None:
    """No other part of an upload in an organization is counted before the commit."""
    await tx.execute("select pg_advisory_xact_lock(hashtextextended('space of uploads', $1))", realm_id)


async def space_arrived(reader: Reader, realm_id: int) -> int:
    """How many bytes have arrived of the uploads under way in an organization."""
    sql = """
    select coalesce(sum(arrived), 0) from resumable_upload
    where realm_id = $1 and attachment_id is null and expires_at > now()
    """
    return int(await reader.fetchval(sql, realm_id))


async def own_arrived(reader: Reader, caller: Caller) -> int:
    """Those of the caller, with all bots of the same person."""
    sql = """
    select coalesce(sum(arrived), 0) from resumable_upload join account on account.id = owner_id
    where resumable_upload.realm_id = $1 and attachment_id is null and expires_at > now()
        and coalesce(bot_owner_id, account.id) = (select coalesce(bot_owner_id, id) from account where id = $2)
    """
    return int(await reader.fetchval(sql, caller.realm_id, caller.user_id))


async def insert_upload(tx: Transaction, caller: Caller, upload_id: str, name: str, size: int, seconds: float) -> None:
    """Begin an upload."""
    sql = """
    insert into resumable_upload (id, realm_id, owner_id, name, size, expires_at)
    values ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))
    """
    await tx.execute(sql, upload_id, caller.realm_id, caller.user_id, name, size, seconds)


async def append_part(tx: Transaction, upload_id: str, arrived: int, key: str, size: int) -> bool:
    """Append a part; False if somebody else has written since `arrived`, or the upload is gone."""
    sql = """
    update resumable_upload set arrived = arrived + $4, keys = keys || $3::text
    where id = $1 and arrived = $2 and attachment_id is null and expires_at > now() returning id
    """
    return await tx.fetchval(sql, upload_id, arrived, key, size) is not None


async def finish_upload(tx: Transaction, upload_id: str, arrived: int, attachment_id: int) -> bool:
    """Everything has arrived, and is a file; False as for `append_part`."""
    sql = """
    update resumable_upload set arrived = size, keys = '{}', attachment_id = $3
    where id = $1 and arrived = $2 and attachment_id is null returning id
    """
    return await tx.fetchval(sql, upload_id, arrived, attachment_id) is not None


async def delete_upload(tx: Transaction, caller: Caller, upload_id: str) -> list[str] | None:
    """Give up an upload; returns the objects of its parts, None if there is no such upload under way."""
    sql = """
    delete from resumable_upload where id = $1 and owner_id = $2 and attachment_id is null and expires_at > now()
    returning keys
    """
    keys: Sequence[str] | None = await tx.fetchval(sql, upload_id, caller.user_id)
    return None if keys is None else list(keys)


async def delete_expired(tx: Transaction) -> int:
    """Forget what can no longer be resumed. Its parts are due by themselves."""
    sql = "with gone as (delete from resumable_upload where expires_at <= now() returning id) select count(*) from gone"
    return int(await tx.fetchval(sql))


async def take_all(tx: Transaction, handed: Handed) -> None:
    """Give up the uploads of a bot that gets another owner. Their parts are due by themselves."""
    await tx.execute("delete from resumable_upload where owner_id = $1", handed.bot_id)
