"""Where archives are: a folder or a bucket, through the same store as files."""

import hashlib
import os
from collections.abc import AsyncGenerator, AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from tertulia.backups.errors import BackupFailed, Damaged
from tertulia.backups.manifest import Manifest, Part, decode_manifest, encode_manifest
from tertulia.content.storage import NotStored, Store
from tertulia.kernel.settings import Settings

MANIFEST = "manifest.json"
OBJECTS = "objects"
LATEST = "latest"


class Summed:
    """Pieces that pass by, with their sum."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self._sha256 = hashlib.sha256()
        self.bytes = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._chunks:
            self._sha256.update(chunk)
            self.bytes += len(chunk)
            yield chunk

    @property
    def part(self) -> Part:
        return Part(self.bytes, self._sha256.hexdigest())


class Archives(NamedTuple):
    """What lies in a place, besides objects."""

    whole: list[str]
    """Their names, the oldest first."""
    unfinished: list[str]
    """Somebody was killed, or is at work."""


class Place:
    def __init__(self, text: str, settings: Settings) -> None:
        self.text = text.rstrip("/")
        self.store = Store(_settings_of(text, settings))

    async def archives(self) -> Archives:
        names = [name for name in await self.store.folders() if moment_of(name)]
        whole = [name for name in names if await self.store.has(f"{name}/{MANIFEST}")]
        return Archives(whole, [name for name in names if name not in whole])

    async def read_manifest(self, name: str) -> Manifest:
        """Of the archive with that name, or of the newest; refuses what was changed."""
        if name == LATEST:
            whole = (await self.archives()).whole
            if not whole:
                raise BackupFailed(f"There is no archive in {self.text}.")
            name = whole[-1]
        try:
            data = await (await self.store.get(f"{name}/{MANIFEST}")).read()
        except (NotStored, ValueError) as error:
            raise BackupFailed(
                f"There is no archive {name} in {self.text}. `tertulia backup list {self.text}` shows those that are."
            ) from error
        manifest = decode_manifest(data)
        if manifest.name != name:
            raise Damaged(f"The manifest in {name} is that of {manifest.name}.")
        return manifest

    async def write_manifest(self, manifest: Manifest) -> None:
        """From now on the archive is there."""
        await self.store.put(f"{manifest.name}/{MANIFEST}", encode_manifest(manifest), "application/json")

    async def write_part(self, name: str, part: str, chunks: AsyncIterator[bytes]) -> Part:
        summed = Summed(chunks)
        await self.store.put(f"{name}/{part}", aiter(summed))
        return summed.part

    async def read_part(self, manifest: Manifest, part: str) -> AsyncGenerator[bytes, None]:
        """Its pieces. At the end they are what was written, or this raises."""
        try:
            stored = await self.store.get(f"{manifest.name}/{part}")
        except NotStored as error:
            raise Damaged(f"The archive is damaged: {manifest.name}/{part} is missing.") from error
        summed = Summed(stored.chunks)
        async for chunk in summed:
            yield chunk
        if summed.part != manifest.parts[part]:
            raise Damaged(
                f"The archive is damaged: {manifest.name}/{part} is not what was written"
                f" ({summed.bytes:,} bytes of {manifest.parts[part].bytes:,}; the SHA-256 does not fit)."
            )

    async def check_part(self, manifest: Manifest, part: str) -> None:
        """Read it to its end."""
        async for _ in self.read_part(manifest, part):
            pass


def open_place(text: str, settings: Settings, *, must_exist: bool) -> Place:
    """A folder or `s3://bucket/prefix`; empty: that of the settings."""
    text = text or settings.backup_place
    if not text:
        raise BackupFailed("Say where backups are: a folder or s3://bucket/prefix, or set TERTULIA_BACKUP_PLACE.")
    if not text.startswith("s3://"):
        folder, files = Path(text).expanduser().absolute(), Path(settings.storage_folder).absolute()
        if must_exist and not folder.is_dir():
            raise BackupFailed(f"There is no folder {folder}.")
        if not settings.s3_bucket and (folder.is_relative_to(files) or files.is_relative_to(folder)):
            raise BackupFailed(
                f"Backups cannot be in the same folder as the files themselves ({files}): choose another."
            )
        text = str(folder)
    return Place(text, settings)


def split_archive(text: str, settings: Settings, *, must_exist: bool = True) -> tuple[Place, str]:
    """`PLACE/NAME`, where the name may be `latest`; a name alone is in the place of the settings."""
    place, _, name = text.rstrip("/").rpartition("/")
    if not name or (text.startswith("s3://") and place in ("s3:", "s3:/")):
        raise BackupFailed(f"{text} names no archive: write PLACE/NAME, or PLACE/{LATEST}.")
    return open_place(place, settings, must_exist=must_exist), name


def name_of(moment: datetime) -> str:
    """Names sort by time."""
    moment = moment.astimezone(UTC)
    return f"{moment:%Y-%m-%dT%H%M%S}.{moment.microsecond // 1000:03}Z"


def moment_of(name: str) -> datetime | None:
    """None: it is no name of an archive."""
    try:
        return datetime.strptime(name, "%Y-%m-%dT%H%M%S.%fZ").replace(tzinfo=UTC)
    except ValueError:
        return None


def _settings_of(text: str, settings: Settings) -> Settings:
    if not text.startswith("s3://"):
        return msgspec.structs.replace(settings, s3_bucket="", storage_folder=os.fspath(Path(text)))
    bucket, _, prefix = text.removeprefix("s3://").partition("/")
    if not bucket:
        raise BackupFailed(f"{text} names no bucket: write s3://bucket/prefix.")
    ours, files = (f"/{one.strip('/')}/".replace("//", "/") for one in (prefix, settings.s3_prefix))
    if bucket == settings.s3_bucket and (ours.startswith(files) or files.startswith(ours)):
        raise BackupFailed(
            "Backups cannot be in or above the place of the files themselves: choose another prefix or bucket."
        )
    own_key = bool(settings.backup_s3_access_key_id)
    return msgspec.structs.replace(
        settings,
        s3_bucket=bucket,
        s3_prefix=prefix.strip("/"),
        s3_endpoint=settings.backup_s3_endpoint or settings.s3_endpoint,
        s3_region=settings.backup_s3_region or settings.s3_region,
        s3_access_key_id=settings.backup_s3_access_key_id if own_key else settings.s3_access_key_id,
        s3_secret_access_key=settings.backup_s3_secret_access_key if own_key else settings.s3_secret_access_key,
    )
