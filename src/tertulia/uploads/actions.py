"""Storing files, and removing them.

An object is announced before it is written and adopted by the row that owns it: whatever breaks off in between leaves an
announced object, which the worker deletes.
"""

from collections.abc import AsyncIterator

import msgspec
import structlog

from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.errors import Refusal, server_not_ready
from tertulia.kernel.settings import Settings
from tertulia.storage import Store, loose
from tertulia.uploads import queries
from tertulia.uploads.events import tell_added, tell_removed
from tertulia.uploads.kinds import HEAD, PICTURES, kind_of
from tertulia.uploads.model import AttachmentRecord, NewFile, StoredFile, Thumbnail
from tertulia.uploads.names import clean_name, new_key, new_path
from tertulia.uploads.rules import over_quota, quota_of, size_limit, too_large
from tertulia.uploads.sizes import thumbnail_keys

log = structlog.get_logger()

UNFINISHED_SECONDS = 86_400.0
"""How long an upload may take."""


class Uploading(msgspec.Struct, frozen=True):
    """What storing a file takes."""

    database: Database
    store: Store
    settings: Settings

    async def keep(self, caller: Caller, sent_name: str, chunks: AsyncIterator[bytes]) -> AttachmentRecord:
        """Store a file that is on its way, and give it to the caller."""
        name, key = clean_name(sent_name), new_key(caller.realm_id)
        quota = quota_of(self.settings)
        async with self.database.transaction() as tx:
            used = await queries.space_used(tx, caller.realm_id)
            await loose.announce(tx, [key], UNFINISHED_SECONDS)
        watched = _Watched(chunks, self.settings, None if quota is None else quota - used)
        try:
            size = await self.store.put(key, watched.pieces())
            new = NewFile(new_path(caller.realm_id, name), key, name, size, kind_of(bytes(watched.head)))
            return await self.adopt(caller, new)
        except BaseException:
            await self.abandon(key)
            raise

    async def adopt(self, caller: Caller, new: NewFile) -> AttachmentRecord:
        """An announced object becomes the caller's file, if there is room for it."""
        async with self.database.transaction() as tx:
            return await self.adopt_in(tx, caller, new)

    async def adopt_in(self, tx: Transaction, caller: Caller, new: NewFile) -> AttachmentRecord:
        """As `adopt`, with something else that must happen together with it."""
        thumbnail = Thumbnail.WAITING if new.content_type in PICTURES else Thumbnail.NONE
        added = await queries.insert_file(tx, caller, new, thumbnail)
        if added is None:
            raise server_not_ready("The upload took too long. Please try again.")
        used = await queries.take_space(tx, caller.realm_id, new.size, quota_of(self.settings))
        if used is None:
            raise over_quota()
        tell_added(tx, caller.realm_id, caller.user_id, added, used)
        return added

    async def abandon(self, key: str) -> None:
        """Nothing came of an announced object."""
        try:
            async with self.database.transaction() as tx:
                if await queries.owns_object(tx, key):
                    return  # the answer was lost, the row was not
                await loose.drop(tx, [key])
        except Exception:
            log.exception("an upload that broke off stays until it is swept", key=key)


class _Watched:
    """A file on its way: its first bytes are looked at, and it is stopped where it becomes too large."""

    def __init__(self, chunks: AsyncIterator[bytes], settings: Settings, room: int | None) -> None:
        self.head = bytearray()
        self._chunks = chunks
        self._settings = settings
        self._room = room

    async def pieces(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._chunks:
            if len(self.head) < HEAD:
                self.head += chunk[: HEAD - len(self.head)]
            size += len(chunk)
            if size > size_limit(self._settings):
                raise too_large(self._settings)
            if self._room is not None and size > self._room:
                raise over_quota()
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
    await loose.drop(tx, [file.key, *thumbnail_keys(file)])
    used = await queries.give_space(tx, realm_id, file.size)
    tell_removed(tx, realm_id, file.owner_id, file.id, used)
