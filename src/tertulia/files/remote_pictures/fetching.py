"""Asking other servers for pictures. The worker's job, and nobody else's: never at a reader's request.

What is asked tells nothing of who reads or writes: no cookie, no referrer, one user agent. Redirects are followed, a few, each
looked at like the first address. Time, size and type of the answer are limited; what it is, the picture process finds out.
"""

import asyncio
import secrets
from collections.abc import Sequence
from pathlib import Path

from tertulia.content.pictures.apart import shrink
from tertulia.content.pictures.fitting import NotAPicture
from tertulia.content.pictures.places import DecodingPlaces
from tertulia.content.pictures.shrinking import Shrunk
from tertulia.content.storage import Store, StoreUnavailable, orphans
from tertulia.files.remote_pictures import queries
from tertulia.files.uploads.thumbnails.sizes import MOVING, STILL, ThumbnailFormat, thumbnail_key
from tertulia.kernel.db import LOST, Database, Transaction
from tertulia.kernel.fetching import MAX_RUNNING, Due, Fetcher
from tertulia.kernel.left_folders import temporary_folder
from tertulia.kernel.outbound import Outbound, Unreachable, Unwanted, Wanted
from tertulia.kernel.settings import Settings

MAX_BYTES = 10 * 1024 * 1024
MAX_MOVING_BYTES = 4 * 1024 * 1024
"""A moving picture whose thumbnail is larger stands still."""
SECONDS = 10.0
CLAIMED_SECONDS = 180.0
"""Longer than fetching and shrinking can take, also when other pictures are shrunk first."""
LEFT_SECONDS = 3600.0
MAX_REMOVED = 500
"""At once, to make room: after the limit was lowered it takes some pictures until it is kept."""
_KINDS = frozenset(f"image/{kind}" for kind in ("avif", "gif", "jpeg", "png", "tiff", "webp"))
_ASKED = {"Accept": "image/webp,image/avif,image/png,image/jpeg,image/gif,image/*;q=0.5", "Accept-Encoding": "identity"}


class Fetching(Fetcher):
    """Fetches pictures."""

    what = "a picture from elsewhere"
    retry_seconds = (5.0, 30.0)  # whoever reads sees a sign of waiting meanwhile, so it is not tried for long
    unwanted = (Unwanted, NotAPicture)
    passing = (*LOST, StoreUnavailable)

    def __init__(self, database: Database, store: Store, settings: Settings) -> None:
        super().__init__(database)
        self._store = store
        self._most_bytes = settings.remote_pictures_mib * 1024 * 1024
        self._outbound = Outbound(
            settings, seconds=SECONDS, networks=settings.picture_networks, blocked=settings.preview_blocked_hosts
        )
        self._places = DecodingPlaces(MAX_RUNNING)

    async def claim(self, tx: Transaction, limit: int, busy: Sequence[Sequence[int]]) -> list[Due]:
        """Of Fetcher."""
        return await queries.claim(tx, limit, busy, CLAIMED_SECONDS)

    async def give_up(self, tx: Transaction, one: Due) -> None:
        """Of Fetcher."""
        await queries.give_up(tx, one.id)

    async def put_off(self, tx: Transaction, one: Due, seconds: float) -> None:
        """Of Fetcher."""
        await queries.put_off(tx, one.id, seconds)

    async def fetch(self, one: Due) -> None:
        """Of Fetcher."""
        answer = (await self._outbound.follow(one.url, _ASKED, Wanted(MAX_BYTES, "image/"))).answer
        with temporary_folder("picture") as folder:
            await asyncio.to_thread((folder / "source").write_bytes, answer.body)
            shrunk = await self._shrink(one, folder)
            forms = {STILL: await asyncio.to_thread((folder / "still.webp").read_bytes)}
            if shrunk.frames > 1 and (folder / "moving.webp").stat().st_size <= MAX_MOVING_BYTES:
                forms[MOVING] = await asyncio.to_thread((folder / "moving.webp").read_bytes)
        kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        await self._keep(one, shrunk, forms, kind if kind in _KINDS else "")

    async def _shrink(self, picture: Due, folder: Path) -> Shrunk:
        async with self._places.enter(str(picture.person)):
            return await shrink(folder / "source", folder, STILL.max_width, STILL.max_height)

    async def _keep(self, picture: Due, shrunk: Shrunk, forms: dict[ThumbnailFormat, bytes], kind: str) -> None:
        key = f"remote/{picture.realm_id}/{secrets.token_hex(20)}"
        keys = [thumbnail_key(key, form) for form in forms]
        size = sum(map(len, forms.values()))
        async with self._database.transaction() as tx:
            await orphans.announce(tx, keys, LEFT_SECONDS)
        for object_key, data in zip(keys, forms.values(), strict=True):
            await self._store.put(object_key, data, "image/webp")
        frames = shrunk.frames if MOVING in forms else 1
        made = queries.Made(key, size, kind, Shrunk(shrunk.width, shrunk.height, frames))
        async with self._database.transaction() as tx:
            if not await queries.finish(tx, picture.id, made):
                await orphans.drop(tx, keys)  # nobody shows it any more, or somebody was faster
            elif await orphans.unlist(tx, keys):
                await self._make_room(tx, picture.realm_id, size)
            else:
                raise Unreachable("it took so long that its objects were swept")

    async def _make_room(self, tx: Transaction, realm_id: int, size: int) -> None:
        used = await queries.take_space(tx, realm_id, size)
        if used > self._most_bytes:
            removed = await queries.remove_first(tx, realm_id, used - self._most_bytes, MAX_REMOVED)
            await drop_objects(tx, removed)
            await queries.take_space(tx, realm_id, -sum(one.size for one in removed))


async def drop_objects(tx: Transaction, removed: list[queries.Removed]) -> None:
    """The objects of pictures that are gone belong to nobody."""
    keys = [thumbnail_key(one.key, form) for one in removed if one.key for form in (STILL, MOVING)]
    if keys:
        await orphans.drop(tx, keys)
