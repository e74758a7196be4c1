"""Storing files, and removing them.

An object is announced before it is written and adopted by the row that owns it: whatever breaks off in between leaves an
announced object, which the worker deletes.
"""

from collections.abc import AsyncIterator

import msgspec
import structlog
from prometheus_client import Counter

from tertulia.content.storage import Store, orphans
from tertulia.files.uploads import queries
from tertulia.files.uploads.events import tell_added, tell_removed
from tertulia.files.uploads.kinds import HEAD, PICTURES, kind_of
from tertulia.files.uploads.model import AttachmentRecord, NewFile, StoredFile, Thumbnail
from tertulia.files.uploads.names import clean_name, new_key, new_path
from tertulia.files.uploads.rules import over_quota, over_share, quota_of, share_in, size_limit, too_large
from tertulia.files.uploads.thumbnails.sizes import thumbnail_keys
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.errors import Refusal, server_not_ready
from tertulia.kernel.settings import Settings

log = structlog.get_logger()
FILES = Counter("tertulia_uploads", "Files uploaded")
BYTES = Counter("tertulia_upload_bytes", "Bytes of files uploaded")

UNFINISHED_SECONDS = 86_400.0
"""How long an upload may take."""
Rooms = tuple[tuple[int, Refusal], ...]


class Uploading(msgspec.Struct, frozen=True):
    """What storing a file takes."""

    database: Database
    store: Store
    settings: Settings

    async def keep(self, caller: Caller, sent_name: str, chunks: AsyncIterator[bytes]) -> AttachmentRecord:
        """Store a file that is on its way, and give it to the caller."""
        name, key = clean_name(sent_name), new_key(caller.realm_id)
        async with self.database.transaction() as tx:
            rooms = await self._rooms(tx, caller)
            await orphans.announce(tx, [key], UNFINISHED_SECONDS)
        watched = _Watched(chunks, self.settings, rooms)
        try:
            size = await self.store.put(key, self.store.scanner.passing(watched.pieces()))
            new = NewFile(new_path(caller.realm_id, name), key, name, size, kind_of(bytes(watched.head)))
            return await self.adopt(caller, new)
        except BaseException:
            await self.abandon(key)
            raise

    async def adopt(self, caller: Caller, new: NewFile) -> AttachmentRecord:
        """An announced object becomes the caller's file, if there is room for it."""
        async with self.database.transaction() as tx:
            added = await self.adopt_in(tx, caller, new)
        count_file(new)
        return added

    async def adopt_in(self, tx: Transaction, caller: Caller, new: NewFile) -> AttachmentRecord:
        """As `adopt`, with something else that must happen together with it."""
        thumbnail = Thumbnail.WAITING if new.content_type in PICTURES else Thumbnail.NONE
        added = await queries.insert_file(tx, caller, new, thumbnail)
        if added is None:
            raise server_not_ready("The upload took too long. Please try again.")
        await self._check_share(tx, caller)
        used = await queries.take_space(tx, caller.realm_id, new.size, quota_of(self.settings))
        if used is None:
            raise over_quota()
        tell_added(tx, caller.realm_id, caller.user_id, added, used)
        return added

    async def _rooms(self, reader: Reader, caller: Caller) -> Rooms:
        """How many bytes more there is room for, and what is said to more than that."""
        quota, share = quota_of(self.settings), share_in(self.settings)
        if quota is None or share is None:
            return ()
        own = await queries.share_used(reader, caller.user_id)
        left = (quota - await queries.space_used(reader, caller.realm_id), over_quota())
        return (left,) if own is None else (left, (share - own, over_share()))

    async def _check_share(self, tx: Transaction, caller: Caller) -> None:
        """Refuse what was just added if it is more than a person may have. Without the lock of the organization's space."""
        share = share_in(self.settings)
        if share is None:
            return
        await queries.hold_share(tx, caller.user_id)
        used = await queries.share_used(tx, caller.user_id)
        if used is not None and used > share:
            raise over_share()

    async def abandon(self, key: str) -> None:
        """Nothing came of an announced object."""
        try:
            async with self.database.transaction() as tx:
                if await queries.owns_object(tx, key):
                    return  # the answer was lost, the row was not
                await orphans.drop(tx, [key])
        except Exception:
            log.exception("an upload that broke off stays until it is swept", key=key)


class _Watched:
    """A file on its way: its first bytes are looked at, and it is stopped where it becomes too large."""

    def __init__(self, chunks: AsyncIterator[bytes], settings: Settings, rooms: Rooms) -> None:
        self.head = bytearray()
        self._chunks = chunks
        self._settings = settings
        self._rooms = rooms

    async def pieces(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._chunks:
            if len(self.head) < HEAD:
                self.head += chunk[: HEAD - len(self.head)]
            size += len(chunk)
            if size > size_limit(self._settings):
                raise too_large(self._settings)
            for room, refusal in self._rooms:
                if size > room:
                    raise refusal
            yield chunk


async def remove_file(tx: Transaction, caller: Caller, attachment_id: int) -> None:
    """Delete a file of the caller's own. Messages that link it keep their text."""
    found = await queries.lock_own(tx, caller.user_id, attachment_id)
    if found is None:
        raise Refusal("Invalid attachment")
    await forget_file(tx, caller.realm_id, found)


async def forget_file(tx: Transaction, realm_id: int, file: StoredFile) -> None:
    """Delete a file that is held; its objects follow."""
    await queries.delete_files(tx, [file.id])
    await orphans.drop(tx, [file.key, *thumbnail_keys(file)])
    used = await queries.give_space(tx, realm_id, file.size)
    tell_removed(tx, realm_id, file.owner_id, file.id, used)


def count_file(new: NewFile) -> None:
    """A file is there, its transaction committed."""
    FILES.inc()
    BYTES.inc(new.size)
