"""Making the thumbnails of pictures: the worker's job, one after the other, in memory that does not depend on the picture.

People take turns, but one picture may take a quarter of a minute. While one takes long, those of others are made beside it; not
those of people whose pictures took long lately, who would have that place as well.
"""

import asyncio
import time
from collections.abc import Sequence
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
from tertulia.kernel.left_folders import temporary_folder
from tertulia.kernel.limits import KnownDebts

log = structlog.get_logger()

CLAIM_SECONDS = 120.0
"""Whoever has not made it by then has died; longer than reading a picture may take."""
LEFT_SECONDS = 3600.0
LONG_SECONDS = 1.0
"""What takes longer does not keep others waiting."""
SLOW_SECONDS, SLOW_SHARE = 10.0, 0.05
"""Whose pictures took more than this is slow, until so much of the time that has passed makes up for it."""


class Thumbnails:
    """Makes them, in one worker."""

    def __init__(self, database: Database, store: Store) -> None:
        self._database = database
        self._store = store
        self._slow = KnownDebts(SLOW_SECONDS, SLOW_SHARE)
        self._under_way: tuple[int, float] | None = None
        """Whose picture is being made, and since when."""

    async def make_all(self) -> int:
        """Make what is wanted; returns how many pictures were looked at."""
        count = person = 0
        while found := await self._claim(person, ()):
            file, person = found
            self._under_way = person, time.monotonic()
            try:
                await self._make(file, person)
            finally:
                self._under_way = None
            count += 1
        return count

    async def make_beside(self) -> int:
        """The same while a picture takes long: of others, who were not slow themselves."""
        count = person = 0
        while (slow := self._whom_others_wait_for()) and (found := await self._claim(person, slow)):
            file, person = found
            await self._make(file, person)
            count += 1
        return count

    def _whom_others_wait_for(self) -> list[int]:
        if self._under_way is None or time.monotonic() - self._under_way[1] < LONG_SECONDS:
            return []
        return [self._under_way[0], *map(int, self._slow.waiting())]

    async def _claim(self, after: int, without: Sequence[int]) -> tuple[StoredFile, int] | None:
        async with self._database.transaction() as tx:
            return await thumbnail_queries.claim(tx, CLAIM_SECONDS, after, without)

    async def _make(self, file: StoredFile, person: int) -> None:
        began = time.monotonic()
        try:
            await _make(self._database, self._store, file)
        finally:
            self._slow.spend(str(person), time.monotonic() - began)


async def _make(database: Database, store: Store, file: StoredFile) -> None:
    with temporary_folder("picture") as folder:
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
