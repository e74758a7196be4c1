"""What an archive is, and what is in it, as types."""

import hashlib
from datetime import datetime

import msgspec

from tertulia.backups.errors import BackupFailed, Damaged

FORMAT = 1
"""Of archives. A program refuses those of a newer one."""


class Part(msgspec.Struct, frozen=True):
    """A file of the archive, as it is stored."""

    bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """Not encrypted: nothing in it is secret."""

    format: int = FORMAT
    name: str
    begun_at: datetime
    """When the snapshot was taken: the archive is of this moment."""
    ended_at: datetime
    program: str
    """Version of Tertulia."""
    form: str
    """Of the database (kernel/form.py)."""
    postgres: int
    """Major version of the server it was taken from, and of pg_dump."""
    recipients: list[str]
    """Public keys it is encrypted for; none: it is not encrypted."""
    tables: int
    rows: int
    objects: int
    object_bytes: int
    copied: int
    """Objects that were not in the place before."""
    copied_bytes: int
    parts: dict[str, Part]
    """`database`, `contents`, `objects`."""

    @property
    def is_encrypted(self) -> bool:
        return bool(self.recipients)

    @property
    def database_bytes(self) -> int:
        return self.parts["database"].bytes


class Table(msgspec.Struct, frozen=True):
    """What a table held: the sum of two hashes of every row, so the order of rows does not matter."""

    rows: int
    digest: str


class Contents(msgspec.Struct, frozen=True):
    """The first line of `contents`; each further line is an `Entry`."""

    tables: dict[str, Table]


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """An object: its key and size in the store, and where it is in the place."""

    key: str
    size: int
    stored: str


class _File(msgspec.Struct):
    sha256: str
    manifest: msgspec.Raw


class _OnlyFormat(msgspec.Struct):
    format: int


def encode_manifest(manifest: Manifest) -> bytes:
    """With its own sum."""
    inner = msgspec.json.encode(manifest)
    return msgspec.json.encode(_File(hashlib.sha256(inner).hexdigest(), msgspec.Raw(inner)))


def decode_manifest(data: bytes) -> Manifest:
    """Refuses one that was changed, and one of a newer format."""
    try:
        file = msgspec.json.decode(data, type=_File)
        if hashlib.sha256(file.manifest).hexdigest() != file.sha256:
            raise Damaged("The manifest is damaged: its sum does not fit.")
        found = msgspec.json.decode(file.manifest, type=_OnlyFormat).format
        if found > FORMAT:
            raise BackupFailed(
                f"The archive has format {found}, and this program reads {FORMAT}: use a newer Tertulia."
            )
        return msgspec.json.decode(file.manifest, type=Manifest)
    except msgspec.MsgspecError as error:
        raise Damaged(f"The manifest is damaged: {error}.") from error


def check_form(manifest: Manifest, own: str) -> None:
    """A database of a newer form than this program knows cannot be brought back by it."""
    if manifest.form > own:
        raise BackupFailed(
            f"The archive was made by Tertulia {manifest.program}, whose database has form {manifest.form}; this program knows"
            f" forms up to {own}. Restore it with version {manifest.program} or newer."
        )
