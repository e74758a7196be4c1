"""Files and pictures of an archive, put into the store.

An object is announced before it is written, and adopted by the transaction that writes the row which names it: whatever
breaks off in between is deleted later. Pictures are decoded and encoded again, as those that people bring.
"""

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from tertulia.archives.errors import ArchiveFailed
from tertulia.archives.form import kinds
from tertulia.archives.form.kinds import File, Picture
from tertulia.archives.loading.texts import Rewriter
from tertulia.archives.reading.archive import Archive
from tertulia.content.pictures.apart import cover, fit, within
from tertulia.content.pictures.fitting import NotAPicture
from tertulia.content.pictures.fitting import Picture as Fitted
from tertulia.content.pictures.keeping import content_type
from tertulia.content.pictures.receiving import MAX_MIB
from tertulia.content.storage import Store, StoreUnavailable, orphans
from tertulia.content.storage.scanning import CODE as MALWARE
from tertulia.files.uploads.kinds import HEAD, PICTURES, UNKNOWN, kind_of
from tertulia.files.uploads.model import Thumbnail
from tertulia.files.uploads.names import new_key
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.organization.custom_emoji.actions import key_of as emoji_key
from tertulia.organization.custom_emoji.model import still_name
from tertulia.organization.custom_emoji.routes import SIDE
from tertulia.organization.realms.pictures.actions import LOGO_HEIGHT, LOGO_WIDTH, make_icon
from tertulia.organization.realms.pictures.actions import key_of as picture_key
from tertulia.people.avatars.actions import keys_of as avatar_keys
from tertulia.people.users.avatars import MEDIUM, SMALL

PATIENCE_SECONDS = 7 * 86_400.0
"""After so long what an import left in the store is deleted, if it did not go on."""
FILE_COLUMNS = "id realm_id owner_id path_id key name size content_type created_at unlinked_at thumbnail"


class Objects:
    """Puts them there; `lost` counts what cannot be had."""

    def __init__(self, database: Database, store: Store, archive: Archive, realm_id: int) -> None:
        self._database = database
        self._store = store
        self._archive = archive
        self._realm_id = realm_id
        self.lost: dict[str, int] = {}
        self.keys: list[str] = []
        """Announced, and not adopted yet."""

    async def organization_pictures(self) -> dict[str, str]:
        """The names of those in the store, by their kind."""
        [organization] = self._archive.of(kinds.Organization)
        found = {}
        for kind in ("icon", "logo", "night_logo"):
            name = secrets.token_hex(20)
            make = make_icon if kind == "icon" else _logo
            data = await self._made(f"blobs/organization/{kind}", getattr(organization, kind), make)
            if data is not None:
                await self._keep({picture_key(self._realm_id, kind, name): data})
                found[kind] = name
        return found

    async def avatars(self) -> dict[int, str]:
        """The names of those in the store, by the archive's ids of people."""
        found = {}
        for person in self._archive.of(kinds.Person):
            made = await self._made(f"blobs/avatar/{person.id}", person.avatar, _avatar)
            if made is not None:
                name = secrets.token_hex(20)
                await self._keep(dict(zip(avatar_keys(self._realm_id, name), made, strict=True)))
                found[person.id] = name
        return found

    async def emoji(self) -> dict[int, tuple[str, bool]]:
        """The file of each, and whether it moves. One whose picture is lost has a name that nothing is behind."""
        found = {}
        for one in self._archive.of(kinds.Emoji):
            made = await self._made(f"blobs/emoji/{one.id}", one.picture, _emoji)
            name = f"{secrets.token_hex(8)}.{'png' if made is None else made.extension}"
            found[one.id] = name, made is not None and made.still is not None
            if made is None:
                continue
            content = {emoji_key(self._realm_id, name): made.data}
            if made.still is not None:
                content[emoji_key(self._realm_id, still_name(name))] = made.still
            await self._keep(content)
        return found

    async def file(self, one: File, rewriter: Rewriter, person: int, id: int) -> tuple[Any, ...]:
        """The row of a file whose bytes are in the store. What it is, its first bytes say."""
        key, head, size = new_key(self._realm_id), bytearray(), 0
        if one.content is None:
            self._lose("files without content")
        else:
            await self._announce([key])
            pieces = self._archive.blob(f"blobs/file/{one.id}", one.content)

            async def watched() -> AsyncIterator[bytes]:
                for piece in pieces:
                    head.extend(piece[: max(0, HEAD - len(head))])
                    yield piece

            size = await self._put(key, self._store.scanner.passing(watched()))
        kind = kind_of(bytes(head)) if size else UNKNOWN
        thumbnail = Thumbnail.WAITING if size and kind in PICTURES else Thumbnail.NONE
        path = rewriter.path(one.path)
        row = (id, self._realm_id, person, path, key, one.name, size, kind, one.created)
        # From now on it may stay without a message for as long as any file: those that link it come later.
        return *row, datetime.now(UTC), int(thumbnail)

    async def _made(self, name: str, picture: Picture | None, make: Callable[[bytes], Awaitable[Any]]) -> Any:
        if picture is None:
            return None
        if picture.bytes > MAX_MIB * 1024 * 1024:
            self._lose("pictures that cannot be read")
            return None
        try:
            data = b"".join(self._archive.blob(name, picture))
            if not await self._is_clean(data):
                return None
            return await make(data)
        except NotAPicture:
            self._lose("pictures that cannot be read")
            return None

    async def _keep(self, content: Mapping[str, bytes]) -> None:
        await self._announce(list(content))
        for key, data in content.items():
            await self._put(key, data, content_type(key))

    async def _announce(self, keys: list[str]) -> None:
        async with self._database.transaction() as tx:
            await orphans.announce(tx, keys, PATIENCE_SECONDS)
        self.keys += keys

    async def adopt(self, tx: Transaction) -> None:
        """From the commit on what was put there belongs to the rows of this transaction."""
        keys, self.keys = self.keys, []
        if not await orphans.unlist(tx, keys):
            raise ArchiveFailed("Files took too long to be stored. Import again: it goes on where it stopped.")

    async def _is_clean(self, picture: bytes) -> bool:
        try:
            await self._store.scanner.check(picture)
        except Refusal as refusal:
            self._refused(refusal)
            return False
        return True

    async def _put(self, key: str, content: bytes | AsyncIterator[bytes], type: str = "") -> int:
        """How many bytes there are; none of what the malware scanner found something in."""
        try:
            return await self._store.put(key, content, type)
        except StoreUnavailable as problem:
            raise ArchiveFailed(f"The storage does not take a file: {problem}. Mend it and import again.") from problem
        except Refusal as refusal:
            self._refused(refusal)
            return 0

    def _refused(self, refusal: Refusal) -> None:
        if refusal.code != MALWARE:
            raise ArchiveFailed("The malware scanner does not answer. Mend it and import again.") from refusal
        self._lose("files in which the malware scanner found something")

    def _lose(self, what: str) -> None:
        self.lost[what] = self.lost.get(what, 0) + 1


async def _emoji(data: bytes) -> Fitted:
    return await fit(data, SIDE)


async def _avatar(data: bytes) -> list[bytes]:
    return await cover(data, [SMALL, MEDIUM])


async def _logo(data: bytes) -> bytes:
    return await within(data, LOGO_WIDTH, LOGO_HEIGHT)
