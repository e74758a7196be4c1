"""What the worker does for files: orphaned objects are deleted, and so are files that no message links for long."""

from collections.abc import Sequence

import structlog

from tertulia.content.storage import Store, StoreUnavailable, orphans
from tertulia.files.uploads.actions import forget_file
from tertulia.files.uploads.sweeping import queries as sweep_queries
from tertulia.kernel.db import Database
from tertulia.kernel.settings import Settings

log = structlog.get_logger()

PORTION = 100
PUT_OFF_SECONDS = 600.0
MAX_FAILURES = 3
"""After so many in a row it is not the object, it is the store."""


async def sweep_objects(database: Database, store: Store) -> int:
    """Delete objects that nobody owns; returns how many."""
    total = 0
    while True:
        async with database.transaction() as tx:
            keys = await orphans.due(tx, PORTION)
            if not keys or not await orphans.may_delete(tx):
                return total
            # Held first, looked at then: nobody comes to own what is being deleted.
            owned = await sweep_queries.owned_objects(tx, keys)
            failed = await _delete(store, [key for key in keys if key not in owned])
            await orphans.unlist(tx, [key for key in keys if key not in failed])
            if failed:
                await orphans.announce(tx, list(failed), PUT_OFF_SECONDS)
        total += len(keys) - len(failed)
        if len(keys) < PORTION or failed:
            return total


async def _delete(store: Store, keys: Sequence[str]) -> set[str]:
    """Delete objects; returns those that cannot be deleted now."""
    try:
        await store.delete(keys)
    except StoreUnavailable as error:
        log.warning("objects cannot be deleted", error=str(error))
    else:
        return set()
    failed, in_a_row = set(keys), 0
    for key in keys:
        try:
            await store.delete([key])
        except StoreUnavailable:
            in_a_row += 1
            if in_a_row == MAX_FAILURES:
                break
        else:
            failed.remove(key)
            in_a_row = 0
    return failed


async def forget_unused(database: Database, settings: Settings) -> int:
    """Delete files that no message has linked for long, nor anything somebody is still writing; returns how many."""
    total, last = 0, 0
    while True:
        async with database.reader() as reader:
            found = await sweep_queries.unlinked_files(reader, settings.unused_upload_days, last, PORTION)
        for attachment_id in found:
            total += await _forget_unused(database, settings, attachment_id)
        if len(found) < PORTION:
            return total
        last = found[-1]


async def _forget_unused(database: Database, settings: Settings, attachment_id: int) -> bool:
    """A transaction for each file: those who upload wait for no more than that."""
    async with database.transaction() as tx:
        held = await sweep_queries.lock_unused(tx, settings.unused_upload_days, attachment_id)
        if held is None or await sweep_queries.is_linked(tx, attachment_id):
            return False
        await forget_file(tx, *held)
    return True
