"""A zip that somebody sent: what is in it is read within bounds, and nothing of it is ever a path here.

Names are compared, not opened: entries with a name that leads elsewhere are left out and counted. What an entry says about its
size is not believed: it is read up to a bound. Nothing is unpacked to disk.
"""

import hashlib
import json
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import msgspec

from tertulia.archives.converting.entries import BOMB_BYTES, BOMB_RATIO, CHUNK, MOST_ENTRIES, Entries, Unreadable
from tertulia.archives.converting.report import Incidents
from tertulia.archives.errors import ArchiveFailed

MOST_JSON = 64 * 1024 * 1024
"""Of an entry with JSON, which is held in memory."""
MOST_RECORD = 4 * 1024 * 1024
"""Of one record in it."""
_UTF8_FLAG, _ENCRYPTED_FLAG = 0x800, 0x1
_DECODER = json.JSONDecoder()
_SKIPPED = re.compile(r"[\s,]*")


Lose = Callable[[str, str, str], None]
"""Told what is lost, where, and why."""


class Source:
    """The entries of a zip, by their names below the folder in which the export begins."""

    def __init__(self, path: Path, marker: str, incidents: Incidents) -> None:
        """`marker`: a file that every export has; where it is, the export begins. Nothing: where the zip begins."""
        self._incidents = incidents
        try:
            self._zip = zipfile.ZipFile(path)
        except OSError as problem:
            raise ArchiveFailed(f"{path} cannot be read: {problem.strerror}.") from problem
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as problem:
            raise ArchiveFailed(f"{path} is no zip, or was not copied whole: {problem}.") from problem
        self._entries: dict[str, zipfile.ZipInfo] = {}
        try:
            self._check(path)
            self._find(marker)
        except BaseException:
            self._zip.close()
            raise

    def __enter__(self) -> "Source":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._zip.close()

    @property
    def names(self) -> list[str]:
        """Of all entries, sorted: the order in a zip is whatever a program made it."""
        return list(self._entries)

    def size(self, name: str) -> int:
        """What it says that it unpacks to."""
        return self._entries[name].file_size

    def seed(self) -> bytes:
        """Follows from everything in the zip, and is known to nobody who does not have it."""
        digest = hashlib.sha256()
        for name, entry in self._entries.items():
            digest.update(f"{name}\0{entry.file_size}\0{entry.CRC}\0".encode(errors="replace"))
        return digest.digest()

    def pieces(self, name: str, most: int) -> Iterator[bytes]:
        """The bytes of an entry. Unreadable if it is broken, or longer than it may be."""
        entry = self._entries[name]
        if entry.file_size > most:
            raise Unreadable(f"it has {entry.file_size:,} bytes, and {most:,} are the most")
        try:
            with self._zip.open(entry) as file:
                yield from _bounded(file, most)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as problem:
            raise Unreadable(str(problem) or "it is cut") from problem
        except UnicodeDecodeError as problem:  # before its bytes it has another name than in the list, which is no text
            raise Unreadable(str(problem)) from problem

    def records(self, name: str, *, is_counted: bool = True) -> Iterator[dict[str, Any]]:
        """The objects of a JSON array, one by one. What cannot be read is counted, and the rest goes on."""
        lose = self._incidents.lose if is_counted else _say_nothing
        try:
            data = b"".join(self.pieces(name, MOST_JSON))
        except Unreadable as problem:
            lose("files of the export that cannot be read", name, str(problem))
            return
        for place, raw in enumerate(self._raw(name, data, lose)):
            record = None if raw is None or len(raw) > MOST_RECORD else decoded_record(raw)
            if isinstance(record, dict):
                yield record
            else:
                lose("records that cannot be read", f"{name}, record {place + 1}", "")

    def _raw(self, name: str, data: bytes, lose: Lose) -> "Iterator[bytes | memoryview | None]":
        try:
            found = msgspec.json.decode(data, type=list[msgspec.Raw])
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            yield from _rescued(name, data, lose)
            return
        for raw in found:
            yield memoryview(raw)

    def _check(self, path: Path) -> None:
        entries = self._zip.infolist()
        if len(entries) > MOST_ENTRIES:
            raise ArchiveFailed(f"The zip has {len(entries):,} entries, and {MOST_ENTRIES:,} are the most.")
        unpacked, packed = sum(entry.file_size for entry in entries), max(1, path.stat().st_size)
        if unpacked > BOMB_BYTES and unpacked > BOMB_RATIO * packed:
            raise ArchiveFailed(
                f"The zip would unpack to {unpacked:,} bytes, {unpacked // packed:,} times its size: that is no export."
            )
        if any(entry.flag_bits & _ENCRYPTED_FLAG for entry in entries):
            raise ArchiveFailed("The zip has a password. Unpack it, and pack it again without one.")

    def _find(self, marker: str) -> None:
        good = Entries[zipfile.ZipInfo]("zip", self._incidents)
        for entry in self._zip.infolist():
            if not entry.is_dir():
                mode = entry.external_attr >> 16
                good.take(_name_of(entry), entry, is_file=stat.S_IFMT(mode) in (0, stat.S_IFREG))
        self._entries = good.below(marker) if marker else dict(sorted(good.items()))


def _rescued(name: str, data: bytes, lose: Lose) -> "Iterator[bytes | None]":
    """Of an array that is cut or broken: what comes before."""
    text = data.decode(errors="replace").lstrip("\ufeff \t\r\n")
    place = 1 if text.startswith("[") else len(text)
    while place < len(text):
        place = _SKIPPED.match(text, place).end()  # type: ignore[union-attr]  # it matches nothing as well
        if text.startswith("]", place) or place >= len(text):
            break
        try:
            _, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            break
        yield text[place:end].encode(errors="surrogatepass")
        place = end
    if not text.startswith("]", place):
        lose("files of the export that are cut or broken: their beginnings were read", name, "")


def _say_nothing(_what: str, _where: str, _why: str) -> None:
    """It is read a second time, and counted then."""


def _name_of(entry: zipfile.ZipInfo) -> str:
    """Many write UTF-8 without saying so, and then it is read as a code page of 1981."""
    if entry.flag_bits & _UTF8_FLAG:
        return entry.filename
    try:
        return entry.filename.encode("cp437").decode()
    except UnicodeError:
        return entry.filename


def _bounded(file: IO[bytes], most: int) -> Iterator[bytes]:
    size = 0
    while piece := file.read(CHUNK):
        size += len(piece)
        if size > most:
            raise Unreadable(f"it has more than {most:,} bytes")
        yield piece


def decoded_record(raw: "bytes | memoryview") -> object:
    """Ours is quick and strict; the other one takes halves of characters, which are cleaned away later."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        pass
    try:
        return _DECODER.decode(bytes(raw).decode(errors="surrogatepass"))
    except (ValueError, RecursionError):
        return None
