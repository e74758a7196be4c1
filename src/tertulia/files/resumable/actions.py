"""Beginning, continuing, finishing and giving up an upload."""

import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import msgspec

from tertulia.content.storage import NotStored, orphans
from tertulia.content.storage.scanning import CODE as MALWARE
from tertulia.files.resumable import queries
from tertulia.files.resumable.bounds import UNFINISHED
from tertulia.files.resumable.model import Upload
from tertulia.files.resumable.rules import conflict, no_such_upload, refused, too_much
from tertulia.files.uploads import queries as files
from tertulia.files.uploads.actions import UNFINISHED_SECONDS, Uploading, count_file
from tertulia.files.uploads.kinds import HEAD, kind_of
from tertulia.files.uploads.model import NewFile
from tertulia.files.uploads.names import clean_name, new_key, new_path
from tertulia.files.uploads.rules import MIB, over_quota, over_share, quota_of, share_in, size_limit, too_large
from tertulia.kernel.auth import Caller
from tertulia.kernel.bounds import hold_count
from tertulia.kernel.call import ClientGone
from tertulia.kernel.db import Database, Reader
from tertulia.kernel.errors import Refusal

EXPIRY_SECONDS = 86_400.0
PART_EXPIRY_SECONDS = EXPIRY_SECONDS + 3600
PART = 4 * MIB
"""Parts are stored in this size; an upload in progress takes as much memory."""
SMALL_PART = MIB // 4
MAX_SMALL_PARTS = 200
"""How many parts may be smaller than `SMALL_PART`: each takes as long as a large one, and makes the row longer."""


_continued: set[tuple[int, str]] = set()
"""Of whom which uploads are being continued in this process."""


@contextmanager
def alone(caller: Caller, upload_id: str) -> Iterator[None]:
    """Continue an upload. A second request for it is a conflict at once: it would be when all of its body is stored."""
    key = caller.user_id, upload_id
    if key in _continued:
        raise conflict()
    _continued.add(key)
    try:
        yield
    finally:
        _continued.discard(key)


class Resumable(msgspec.Struct, frozen=True):
    """Uploads of one caller."""

    uploading: Uploading
    caller: Caller

    @property
    def database(self) -> Database:
        """The database of the uploads feature."""
        return self.uploading.database

    async def find(self, upload_id: str) -> Upload:
        """An upload under way, or just finished."""
        async with self.database.reader() as reader:
            found = await queries.find_upload(reader, self.caller, upload_id)
        if found is None:
            raise no_such_upload()
        return found

    async def begin(self, sent_name: str, size: int) -> Upload:
        """A new upload of that size; refuses what there is no room for."""
        settings = self.uploading.settings
        if size > size_limit(settings):
            raise refused(too_large(settings).msg, 413)
        upload_id = secrets.token_urlsafe(24)
        async with self.database.transaction() as tx:
            await self._check_space(tx, size)
            await hold_count(tx, UNFINISHED, self.caller.user_id)
            if await queries.count_unfinished(tx, self.caller) >= tx.bounds.limit(UNFINISHED):
                raise refused(UNFINISHED.refusal, 429)
            await queries.insert_upload(tx, self.caller, upload_id, clean_name(sent_name), size, EXPIRY_SECONDS)
        begun = await self.find(upload_id)
        return await self._finish(begun, b"") if size == 0 else begun

    async def append(self, upload: Upload, chunks: AsyncIterator[bytes]) -> Upload:
        """Store what arrives, also what arrived before a connection was lost."""
        if len(upload.keys) >= MAX_SMALL_PARTS + upload.arrived // SMALL_PART:
            raise refused("The upload came in too many small parts: begin it again.", 429)
        pending = bytearray()
        try:
            async for chunk in chunks:
                pending += chunk
                if upload.arrived + len(pending) > upload.size:
                    raise too_much()
                while len(pending) >= PART and upload.arrived + len(pending) < upload.size:
                    upload = await self._keep(upload, bytes(pending[:PART]))
                    del pending[:PART]
        except ClientGone:
            if pending and upload.arrived + len(pending) < upload.size:
                await self._keep(upload, bytes(pending))
            raise
        if upload.arrived + len(pending) == upload.size and upload.path_id is None:
            return await self._finish(upload, bytes(pending))
        return await self._keep(upload, bytes(pending)) if pending else upload

    async def end(self, upload_id: str) -> None:
        """Give up an upload."""
        async with self.database.transaction() as tx:
            keys = await queries.delete_upload(tx, self.caller, upload_id)
            if keys is None:
                raise no_such_upload()
            await orphans.drop(tx, keys)

    async def _check_space(self, reader: Reader, size: int) -> None:
        """Refuse so many more bytes than all files have, and the parts of all uploads under way; the same for a person's share.

        What was only promised does not count: whoever promises much and sends nothing would leave no room for others.
        """
        quota, realm_id = quota_of(self.uploading.settings), self.caller.realm_id
        if quota is None:
            return
        used = await files.space_used(reader, realm_id) + await queries.space_arrived(reader, realm_id)
        if used + size > quota:
            raise refused(over_quota().msg, 413)
        own, share = await files.share_used(reader, self.caller.user_id), share_in(self.uploading.settings)
        if own is not None and share is not None:
            own += await queries.own_arrived(reader, self.caller)
            if own + size > share:
                raise refused(over_share().msg, 413)

    async def _keep(self, upload: Upload, part: bytes) -> Upload:
        key = new_key(self.caller.realm_id)
        async with self.database.transaction() as tx:
            await self._check_space(tx, len(part))
            await orphans.announce(tx, [key], PART_EXPIRY_SECONDS)
        try:
            await self.uploading.store.put(key, part)
            async with self.database.transaction() as tx:
                await queries.hold_space(tx, self.caller.realm_id)
                await self._check_space(tx, len(part))
                if not await queries.append_part(tx, upload.id, upload.arrived, key, len(part)):
                    raise conflict()
        except Refusal:
            await self.uploading.abandon(key)  # it would take space without being counted
            raise
        return msgspec.structs.replace(upload, arrived=upload.arrived + len(part), keys=[*upload.keys, key])

    async def _finish(self, upload: Upload, last: bytes) -> Upload:
        """Put the parts together; the file is there when the upload is said to be complete."""
        key = new_key(self.caller.realm_id)
        async with self.database.transaction() as tx:
            await orphans.announce(tx, [key], UNFINISHED_SECONDS)
        try:
            head = (await self._head(upload, last))[:HEAD]
            store = self.uploading.store
            size = await store.put(key, store.scanner.passing(self._whole(upload, last)))
            assert size == upload.size
            new = NewFile(new_path(self.caller.realm_id, upload.name), key, upload.name, size, kind_of(head))
            async with self.database.transaction() as tx:
                added = await self.uploading.adopt_in(tx, self.caller, new)
                if not await queries.finish_upload(tx, upload.id, upload.arrived, added.id):
                    raise conflict()
                await orphans.drop(tx, upload.keys)
        except BaseException as problem:
            await self.uploading.abandon(key)
            if isinstance(problem, NotStored):
                # Another request with the last part was faster: the parts are a file by now.
                raise conflict() from None
            if isinstance(problem, Refusal) and problem.code == MALWARE:
                # Its parts go too: what was refused is not to be tried again.
                await self.end(upload.id)
                raise refused(problem.msg, code=MALWARE) from None
            if isinstance(problem, Refusal) and problem.code == over_quota().code:
                raise refused(problem.msg, 413) from None
            raise
        count_file(new)
        return await self.find(upload.id)

    async def _head(self, upload: Upload, last: bytes) -> bytes:
        return await (await self.uploading.store.get(upload.keys[0], 0, HEAD)).read() if upload.keys else last

    async def _whole(self, upload: Upload, last: bytes) -> AsyncIterator[bytes]:
        for key in upload.keys:
            async for chunk in (await self.uploading.store.get(key)).chunks:
                yield chunk
        if last:
            yield last


async def forget_expired_uploads(database: Database) -> int:
    """Forget uploads that can no longer be resumed; returns how many."""
    async with database.transaction() as tx:
        return await queries.delete_expired(tx)
