"""The tar around it: what entries are called, and how they are written, piece by piece."""

import hashlib
import re
import tarfile
from collections.abc import AsyncIterator
from typing import Protocol

import msgspec

from tertulia.archives.form.kinds import Picture
from tertulia.archives.form.manifest import NAME, Manifest, Part
from tertulia.archives.form.moving import ALL_KINDS

PART_BYTES = 8 * 1024 * 1024
"""A part is written when its lines are so long: it is held in memory until then."""
BLOCK = tarfile.BLOCKSIZE
PART_NAME = re.compile(rf"({'|'.join(ALL_KINDS)})/([0-9]{{6}})\.jsonl")
BLOB_NAME = re.compile(r"blobs/(file|avatar|emoji|still)/([1-9][0-9]{0,15})|blobs/organization/(icon|logo|night_logo)")

_FILE_PATH = re.compile(r"[0-9]{1,16}/[0-9a-z]{1,2}/[A-Za-z0-9_-]{8,64}/[^/\s()\[\]<>\"'?#\\]{1,255}")


class Target(Protocol):
    """A file, or what stands for one."""

    def write(self, data: bytes, /) -> object:
        """All of it."""


class ArchiveWriter:
    """Writes an archive from its beginning to its end. Nothing is read back, so a pipe will do."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._parts: list[Part] = []
        self._lines: list[bytes] = []
        self._size = 0
        self._kind = ""
        self._number = 0
        self.counts = dict.fromkeys(ALL_KINDS, 0)
        self.blobs = 0
        self.blob_bytes = 0

    def begin(self, kind: str) -> None:
        """Lines of this kind follow. Kinds come in their order."""
        self.end_part()
        self._kind, self._number = kind, 0

    def add(self, line: bytes) -> None:
        """One more line, without its end."""
        self._lines.append(line)
        self._size += len(line) + 1
        self.counts[self._kind] += 1
        if self._size >= PART_BYTES:
            self.end_part()

    def end_part(self) -> None:
        """Write what was added."""
        if not self._lines:
            return
        self._number += 1
        name = f"{self._kind}/{self._number:06}.jsonl"
        content = b"\n".join(self._lines) + b"\n"
        digest = hashlib.sha256(content).hexdigest()
        self._parts.append(Part(name=name, lines=len(self._lines), bytes=len(content), sha256=digest))
        self._entry(name, content)
        self._lines, self._size = [], 0

    async def add_blob(self, name: str, size: int, content: AsyncIterator[bytes]) -> Picture:
        """The bytes of a file or picture, which pass through. Whoever refers to them comes later."""
        self._header(name, size)
        digest, written = hashlib.sha256(), 0
        async for chunk in content:
            self._target.write(chunk)
            digest.update(chunk)
            written += len(chunk)
        if written != size:
            raise WrongSize(f"{name} has {written} bytes instead of {size}.")
        self._pad(size)
        self.blobs += 1
        self.blob_bytes += size
        return Picture(bytes=size, sha256=digest.hexdigest())

    def finish(self, manifest: Manifest) -> Manifest:
        """The manifest, completed with what was written, and the end of the tar."""
        self.end_part()
        made = msgspec.structs.replace(
            manifest,
            parts=self._parts,
            counts={kind: count for kind, count in self.counts.items() if count},
            blobs=self.blobs,
            blob_bytes=self.blob_bytes,
        )
        self._entry(NAME, msgspec.json.format(msgspec.json.encode(made)))
        self._target.write(bytes(2 * BLOCK))
        return made

    def _entry(self, name: str, content: bytes) -> None:
        self._header(name, len(content))
        self._target.write(content)
        self._pad(len(content))

    def _header(self, name: str, size: int) -> None:
        about = tarfile.TarInfo(name)
        about.size, about.mode = size, 0o600
        self._target.write(about.tobuf(tarfile.PAX_FORMAT))

    def _pad(self, size: int) -> None:
        self._target.write(bytes(-size % BLOCK))


class WrongSize(Exception):
    """An object is not as long as the database says."""


def is_file_path(path: str) -> bool:
    """Whether texts can link a file so: organization, letters, secret, name."""
    return _FILE_PATH.fullmatch(path) is not None and ".." not in path
