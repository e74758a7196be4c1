"""Making the thumbnails of pictures: the worker's job, one after the other, in memory that does not depend on the picture."""

import asyncio
import tempfile
from pathlib import Path

import structlog

from tertulia.content.pictures.apart import shrink
from tertulia.content.pictures.fitting import NotAPicture
from tertulia.content.pictures.shrinking import Shrunk
from tertulia.content.storage import NotStored, Store, orphans
from tertulia.files.uploads.model import StoredFile, Thumbnail
from tertulia.files.uploads.thumbnails import queries as thumbnail_queries
from tertulia.files.uploads.thumbnails.sizes import MOVING, STILL, ThumbnailFormat, thumbnail_key
from tertulia.kernel.db import Database

log = structlog.get_logger()

CLAIM_SECONDS = 120.0
"""Whoever has not made it by then has died; longer than reading a picture may take."""
LEFT_SECONDS = 3600.0


async def make_thumbnails(database: Database, store: Store) -> int:
    """Make what is wanted; returns how many pictures were looked at."""
    count = after = 0
    while True:
        async with database.transaction() as tx:
            claimed = await thumbnail_queries.claim(tx, CLAIM_SECONDS, after)
        if claimed is None:
            return count
        file, after = claimed
        await _make(database, store, file)
        count += 1


async def _make(database: Database, store: Store, file: StoredFile) -> None:
    with tempfile.TemporaryDirectory(prefix="tertulia-picture-") as name:
        folder = Path(name)
        try:
            await _copy(store, file, folder / "source")
            shrunk = await shrink(folder / "source", folder, STILL.max_width, STILL.max_height)
        except (NotAPicture, NotStored) as error:
            log.info("no thumbnail of a picture", attachment=file.id, reason=str(error))
            async with database.transaction() as tx:
                await thumbnail_queries.finish(tx, file.id, Thumbnail.FAILED, Shrunk(0, 0, 0))
            return
        forms = {STILL: folder / "still.webp"}
        if shrunk.frames > 1:
            forms[MOVING] = folder / "moving.webp"
        await _keep(database, store, file, shrunk, forms)


async def _keep(
    database: Database, store: Store, file: StoredFile, shrunk: Shrunk, forms: dict[ThumbnailFormat, Path]
) -> None:
    keys = [thumbnail_key(file.key, form) for form in forms]
    async with database.transaction() as tx:
        await orphans.announce(tx, keys, LEFT_SECONDS)
    for key, path in zip(keys, forms.values(), strict=True):
        await store.put(key, await asyncio.to_thread(path.read_bytes), "image/webp")
    async with database.transaction() as tx:
        is_made = await thumbnail_queries.finish(tx, file.id, Thumbnail.READY, shrunk)
        if is_made or await thumbnail_queries.hold_ready(tx, file.id):  # by another worker: its objects are the same
            await orphans.unlist(tx, keys)
        else:
            # Deleted meanwhile: what was announced may have been swept before it was written.
            await orphans.drop(tx, keys)


async def _copy(store: Store, file: StoredFile, target: Path) -> None:
    stored = await store.get(file.key)
    with target.open("wb") as copy:
        async for chunk in stored.chunks:
            await asyncio.to_thread(copy.write, chunk)
