"""SQL of the folders feature: one statement per function."""

from collections.abc import Sequence

from tertulia.conversations.folders.model import Folder
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.text import name_key_of

FOLDERS_LOCK = 5
"""The class of the advisory lock on a realm's folders (docs/explanation/architecture.md, Locks)."""

_FOLDER = """
id, name, description, rendered_description, position as order, creator_id,
extract(epoch from date_created)::bigint as date_created, is_archived
"""


async def folders_of(reader: Reader, realm_id: int, *, include_archived: bool = True) -> list[Folder]:
    """The realm's folders in their order."""
    sql = f"""
    select {_FOLDER} from channel_folder where realm_id = $1 and ($2 or not is_archived) order by position, id
    """
    return [Folder(**row) for row in await reader.fetch(sql, realm_id, include_archived)]


async def lock_folders(tx: Transaction, realm_id: int) -> None:
    """Take the lock on the realm's folders: one change at a time."""
    await tx.execute("select pg_advisory_xact_lock($1::int, $2::int)", FOLDERS_LOCK, realm_id)


async def is_in_use(tx: Transaction, realm_id: int, folder_id: int) -> bool:
    """Whether a folder exists and is not archived. A shared lock keeps it so until the commit."""
    sql = "select true from channel_folder where realm_id = $1 and id = $2 and not is_archived for share"
    return bool(await tx.fetchval(sql, realm_id, folder_id))


async def lock_folder(tx: Transaction, folder_id: int) -> None:
    """Lock a folder, so that nobody puts a channel into it until the commit."""
    await tx.execute("select from channel_folder where id = $1 for no key update", folder_id)


async def has_channels(tx: Transaction, realm_id: int, folder_id: int) -> bool:
    """Whether a channel is in the folder, archived ones included."""
    sql = "select exists (select from channel where realm_id = $1 and folder_id = $2)"
    return bool(await tx.fetchval(sql, realm_id, folder_id))


async def insert_folder(tx: Transaction, realm_id: int, creator_id: int, name: str, texts: tuple[str, str]) -> Folder:
    """Insert a folder, the last one. `texts`: its description, and the same as HTML."""
    sql = f"""
    with fresh as materialized (select nextval(pg_get_serial_sequence('channel_folder', 'id')) as id)
    insert into channel_folder (
        id, position, realm_id, name, name_key, description, rendered_description, creator_id
    ) overriding system value
    select fresh.id, fresh.id, $1, $2, $3, $4, $5, $6 from fresh
    returning {_FOLDER}
    """
    row = await tx.fetchrow(sql, realm_id, name, name_key_of(name), *texts, creator_id)
    assert row is not None
    return Folder(**row)


async def update_folder(tx: Transaction, folder: Folder) -> None:
    """Write what may change about a folder."""
    sql = """
    update channel_folder set name = $2, name_key = $3, description = $4, rendered_description = $5, is_archived = $6
    where id = $1
    """
    texts = folder.description, folder.rendered_description
    await tx.execute(sql, folder.id, folder.name, name_key_of(folder.name), *texts, folder.is_archived)


async def set_order(tx: Transaction, folder_ids: Sequence[int]) -> None:
    """Number the folders from 0."""
    sql = """
    update channel_folder set position = ord - 1
    from unnest($1::bigint[]) with ordinality as wanted(id, ord) where channel_folder.id = wanted.id
    """
    await tx.execute(sql, folder_ids)
