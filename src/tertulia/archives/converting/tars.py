"""A tar that somebody sent, compressed or not: what is in it is read within bounds, and nothing of it is ever a path here.

It is unpacked as one file into the temporary place, so entries can be read in any order. Names are compared, not opened:
links, devices and names that lead elsewhere are left out and counted.
"""

import gzip
import os
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from tertulia.archives.converting.entries import BOMB_BYTES, BOMB_RATIO, CHUNK, MOST_ENTRIES, Entries, Unreadable
from tertulia.archives.converting.report import Incidents
from tertulia.archives.errors import ArchiveFailed

MOST_HEADER = 1024 * 1024
"""Bytes that are read at once while entries are looked for: an extended header may say any length."""
_GZIP = b"\x1f\x8b"


class TarSource:
    """The entries of a tar, by their names below the folder in which the export begins."""

    def __init__(self, path: Path, marker: str, folder: Path, incidents: Incidents) -> None:
        """`marker`: a file that every export has; where it is, the export begins."""
        self._incidents = incidents
        self._entries: dict[str, tuple[int, int]] = {}
        try:
            self._file = _plain_tar(path, folder)
        except OSError as problem:
            raise ArchiveFailed(f"{path} cannot be read: {problem.strerror or problem}.") from problem
        try:
            self._find(path, marker)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> "TarSource":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    @property
    def names(self) -> list[str]:
        """Of all entries, sorted."""
        return list(self._entries)

    def has(self, name: str) -> bool:
        """Whether there is such an entry."""
        return name in self._entries

    def size(self, name: str) -> int:
        """Bytes of an entry."""
        return self._entries[name][1]

    def pieces(self, name: str, most: int) -> Iterator[bytes]:
        """The bytes of an entry. Unreadable if it is longer than it may be, or cut."""
        if name not in self._entries:
            raise Unreadable("it is not in the export")
        start, size = self._entries[name]
        if size > most:
            raise Unreadable(f"it has {size:,} bytes, and {most:,} are the most")
        at = start
        while at < start + size:
            self._file.seek(at)  # several may be read at the same time
            piece = self._file.read(min(CHUNK, start + size - at))
            if not piece:
                raise Unreadable("the tar ends in the middle of it")
            at += len(piece)
            yield piece

    def _find(self, path: Path, marker: str) -> None:
        good = Entries[tuple[int, int]]("tar", self._incidents)
        length = self._file.seek(0, os.SEEK_END)
        self._file.seek(0)
        for entry in self._all(path):
            if entry.offset_data + entry.size > length and entry.isreg():
                raise ArchiveFailed(f"{path} ends in the middle of {entry.name!r}: it was not copied whole.")
            if not entry.isdir():
                is_file = entry.type in (tarfile.REGTYPE, tarfile.AREGTYPE) and not entry.issparse()
                good.take(entry.name, (entry.offset_data, entry.size), is_file=is_file)
            if len(good) > MOST_ENTRIES:
                raise ArchiveFailed(f"The tar has more than {MOST_ENTRIES:,} entries, which are the most.")
        self._entries = good.below(marker)

    def _all(self, path: Path) -> Iterator[tarfile.TarInfo]:
        try:
            with tarfile.open(fileobj=_Cautious(self._file), mode="r:", errors="replace") as tar:
                while (entry := tar.next()) is not None:
                    if entry.size < 0:
                        raise ArchiveFailed(f"{path} is damaged: an entry has a negative size.")
                    yield entry
                    tar.members = []  # type: ignore[attr-defined]  # it would keep all of them
        except (tarfile.TarError, ValueError, EOFError, OverflowError, RecursionError) as problem:
            raise ArchiveFailed(f"{path} is no tar, or was not copied whole: {problem}.") from problem


class _Cautious:
    """A file from which nobody reads much at once."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.seek, self.tell = file.seek, file.tell

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= MOST_HEADER:
            raise tarfile.ReadError("a header is too long")
        return self._file.read(size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _plain_tar(path: Path, folder: Path) -> IO[bytes]:
    source = path.open("rb")
    if source.read(2) != _GZIP:
        source.seek(0)
        return source
    source.seek(0)
    packed, size = max(1, path.stat().st_size), 0
    target = (folder / "export.tar").open("w+b")
    try:
        with source, gzip.GzipFile(fileobj=source) as unpacked:
            while piece := unpacked.read(CHUNK):
                size += len(piece)
                if size > BOMB_BYTES and size > BOMB_RATIO * packed:
                    raise ArchiveFailed(
                        f"The file unpacks to more than {BOMB_RATIO} times its size: that is no export."
                    )
                target.write(piece)
    except (gzip.BadGzipFile, EOFError, zlib.error) as problem:
        target.close()
        raise ArchiveFailed(f"{path} is damaged, or was not copied whole: {problem}.") from problem
    except BaseException:
        target.close()
        raise
    target.seek(0)
    return target
