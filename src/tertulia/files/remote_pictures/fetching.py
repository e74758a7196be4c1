"""Asking other servers for pictures. The worker's job, and nobody else's: never at a reader's request.

What is asked tells nothing of who reads or writes: no cookie, no referrer, one user agent. Redirects are followed, a few, each
looked at like the first address. Time, size and type of the answer are limited; what it is, the picture process finds out.
"""

import asyncio
import secrets
import tempfile
from pathlib import Path

import structlog

from tertulia.content.pictures import NotAPicture, Shrunk, shrink
from tertulia.content.storage import Store, StoreUnavailable, orphans
from tertulia.files.remote_pictures import queries
from tertulia.files.remote_pictures.model import Due
from tertulia.files.uploads.thumbnails.sizes import MOVING, STILL, ThumbnailFormat, thumbnail_key
from tertulia.kernel.db import LOST, Database, Transaction
from tertulia.kernel.outbound import Outbound, Unreachable, Unwanted, Wanted
from tertulia.kernel.settings import Settings
from tertulia.kernel.tasks import BoundedTasks

log = structlog.get_logger()

MAX_RUNNING = 16
MAX_OF_ONE_REALM = 8
MAX_OF_ONE_PERSON = 4
MAX_BYTES = 10 * 1024 * 1024
MAX_MOVING_BYTES = 4 * 1024 * 1024
"""A moving picture whose thumbnail is larger stands still."""
SECONDS = 10.0
CLAIMED_SECONDS = 180.0
"""Longer than fetching and shrinking can take, also when other pictures are shrunk first."""
RETRY_SECONDS = (5.0, 30.0)
"""After each failure that may pass. Whoever reads sees a sign of waiting meanwhile, so it is not tried for long."""
LEFT_SECONDS = 3600.0
MAX_REMOVED = 500
"""At once, to make room: after the limit was lowered it takes some pictures until it is kept."""
_KINDS = frozenset(f"image/{kind}" for kind in ("avif", "gif", "jpeg", "png", "tiff", "webp"))
_ASKED = {"Accept": "image/webp,image/avif,image/png,image/jpeg,image/gif,image/*;q=0.5", "Accept-Encoding": "identity"}


class Fetching:
    """Fetches pictures. Running requests go on while new ones are started; those lost with the process are made again."""

    def __init__(self, database: Database, store: Store, settings: Settings) -> None:
        self._database = database
        self._store = store
        self._most_bytes = settings.remote_pictures_mib * 1024 * 1024
        self._outbound = Outbound(
            settings, seconds=SECONDS, networks=settings.picture_networks, blocked=settings.preview_blocked_hosts
        )
        self._tasks = BoundedTasks(MAX_RUNNING, MAX_OF_ONE_REALM, MAX_OF_ONE_PERSON)
        self._one_at_a_time = asyncio.Semaphore(1)
        """Of decoding, which takes memory and a core."""

    async def start_due(self) -> int:
        """Start what is due, as far as there is room; returns how many."""
        started = 0
        while started < MAX_RUNNING and (room := self._tasks.room):
            async with self._database.transaction() as tx:
                claimed = await queries.claim(tx, room, self._tasks.busy(), CLAIMED_SECONDS)
            if not claimed:
                break
            for picture in claimed:
                self._tasks.start(self._settle(picture), picture.realm_id, picture.person)
            started += len(claimed)
        return started

    async def _settle(self, picture: Due) -> None:
        try:
            await self._fetch(picture)
        except (Unwanted, NotAPicture) as error:
            log.info("no picture from elsewhere", picture=picture.id, reason=str(error))
            async with self._database.transaction() as tx:
                await queries.give_up(tx, picture.id)
        except Unreachable as error:
            await self._try_later(picture, str(error))
        except (*LOST, StoreUnavailable) as error:
            log.warning("a picture from elsewhere is fetched again later", picture=picture.id, error=repr(error))
        except Exception:
            log.exception("a picture from elsewhere is fetched again later", picture=picture.id)

    async def _try_later(self, picture: Due, reason: str) -> None:
        log.info("a picture from elsewhere is not to be had", picture=picture.id, tries=picture.tries, reason=reason)
        async with self._database.transaction() as tx:
            if picture.tries > len(RETRY_SECONDS):
                await queries.give_up(tx, picture.id)
            else:
                await queries.put_off(tx, picture.id, RETRY_SECONDS[picture.tries - 1])

    async def _fetch(self, picture: Due) -> None:
        if picture.tries > len(RETRY_SECONDS) + 1:
            raise Unwanted("whoever fetched it died each time")
        answer = (await self._outbound.follow(picture.url, _ASKED, Wanted(MAX_BYTES, "image/"))).answer
        with tempfile.TemporaryDirectory(prefix="tertulia-picture-") as name:
            folder = Path(name)
            await asyncio.to_thread((folder / "source").write_bytes, answer.body)
            async with self._one_at_a_time:
                shrunk = await shrink(folder / "source", folder, STILL.max_width, STILL.max_height)
            forms = {STILL: await asyncio.to_thread((folder / "still.webp").read_bytes)}
            if shrunk.frames > 1 and (folder / "moving.webp").stat().st_size <= MAX_MOVING_BYTES:
                forms[MOVING] = await asyncio.to_thread((folder / "moving.webp").read_bytes)
        kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        await self._keep(picture, shrunk, forms, kind if kind in _KINDS else "")

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
