"""What the worker does for files: objects of nobody are deleted, and so are files that no message links for long."""

from tertulia.kernel.db import Database
from tertulia.kernel.settings import Settings
from tertulia.storage import Store
from tertulia.uploads import queries, sweep_queries
from tertulia.uploads.actions import forget_file

PORTION = 100


async def sweep_objects(database: Database, store: Store) -> int:
    """Delete objects that nobody owns; how many."""
    async with database.transaction() as tx:
        keys = await queries.due_objects(tx, PORTION)
        if keys:
            await store.delete(keys)
            await queries.forget_objects(tx, keys)
    return len(keys)


async def forget_unused(database: Database, settings: Settings) -> int:
    """Delete files that no message has linked for long, nor anything somebody is still writing; how many."""
    async with database.transaction() as tx:
        found = await sweep_queries.lock_unused(tx, settings.unused_upload_days, PORTION)
        linked = await sweep_queries.linked_meanwhile(tx, [file.id for _, file in found]) if found else set()
        unused = [(realm_id, file) for realm_id, file in found if file.id not in linked]
        for realm_id, file in unused:
            await forget_file(tx, realm_id, file)
    return len(unused)
