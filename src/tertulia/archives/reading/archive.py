"""An archive, opened: its manifest, its lines as types, its blobs. Nothing of it is believed before its sum was seen."""

import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from tertulia.archives.errors import ArchiveFailed
from tertulia.archives.form.container import BLOB_NAME, PART_NAME
from tertulia.archives.form.kinds import Emoji, File, Organization, Person, Picture, Record
from tertulia.archives.form.manifest import FORMAT, NAME, Manifest
from tertulia.archives.form.moving import ALL_KINDS, kinds_in
from tertulia.archives.reading.entries import Entry, entries_of

MOST_LINE_BYTES = 16 * 1024 * 1024
PIECE = 1024 * 1024
T = TypeVar("T", bound=Record)


class Archive:
    """Its entries are known, and they are those that the manifest says."""

    def __init__(self, file: IO[bytes], *, moves: bool = False) -> None:
        """`moves`: whether it has to be a moving archive; nobody else reads one."""
        self._file = file
        self._parts: list[Entry] = []
        self._blobs: dict[str, tuple[int, int]] = {}
        self.manifest = self._list_entries(file.seek(0, os.SEEK_END))
        _check_scope(self.manifest, moves=moves)
        self.kinds = kinds_in(self.manifest.scope)
        self._check_manifest()

    def lines(self, kind: str) -> Iterator[Record]:
        """Of one kind, each decoded into its type. The sum of a part is compared before its first line is handed out."""
        decoder = msgspec.json.Decoder(ALL_KINDS[kind], strict=True)
        for entry, part in zip(self._parts, self.manifest.parts, strict=True):
            if not entry.name.startswith(f"{kind}/"):
                continue
            content = self._read(entry)
            if hashlib.sha256(content).hexdigest() != part.sha256:
                raise ArchiveFailed(f"The sum of {entry.name} is not that of the manifest: it was changed or damaged.")
            yield from _decoded(entry.name, content, part.lines, decoder)

    def of(self, kind: type[T]) -> Iterator[T]:
        """Lines of the kind that has this type."""
        [name] = [name for name, record in ALL_KINDS.items() if record is kind]
        for line in self.lines(name):
            assert isinstance(line, kind)
            yield line

    def blob(self, name: str, about: Picture) -> Iterator[bytes]:
        """Its bytes, in pieces. The last one comes only if size and sum are those that the line says."""
        if name not in self._blobs:
            raise ArchiveFailed(f"{name} is not in the archive, though a line refers to it.")
        start, size = self._blobs[name]
        if size != about.bytes:
            raise ArchiveFailed(f"{name} has {size:,} bytes, but its line says {about.bytes:,}.")
        digest, done = hashlib.sha256(), 0
        while done < size or not size:
            self._file.seek(start + done)
            piece = self._file.read(min(PIECE, size - done))
            digest.update(piece)
            done += len(piece)
            if done >= size and digest.hexdigest() != about.sha256:
                raise ArchiveFailed(f"The sum of {name} is not that of its line: it was changed or damaged.")
            yield piece
            if not size:
                return

    def _list_entries(self, length: int) -> Manifest:
        last, manifest = "", None
        for entry in entries_of(self._file, length):
            if last == NAME:
                raise ArchiveFailed(f"{entry.name} comes after the manifest, which is the last entry of an archive.")
            last = entry.name
            if BLOB_NAME.fullmatch(entry.name):
                self._blobs[entry.name] = (entry.start, entry.size)
            elif entry.name == NAME:
                manifest = self._manifest_in(entry)
            else:
                self._parts.append(entry)
        if manifest is None:
            raise ArchiveFailed("The archive has no manifest at its end: it was not written or copied whole.")
        return manifest

    def _manifest_in(self, entry: Entry) -> Manifest:
        content = self._read(entry)
        try:
            found = msgspec.json.decode(content, type=_OnlyFormat).format
            if found != FORMAT:
                raise ArchiveFailed(
                    f"The archive has format {found}, and this program reads {FORMAT}: use a newer Tertulia."
                )
            return msgspec.json.decode(content, type=Manifest)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise ArchiveFailed(f"The manifest is not as it should be: {error}.") from error

    def _check_manifest(self) -> None:
        listed = [(part.name, part.bytes) for part in self.manifest.parts]
        there = [(entry.name, entry.size) for entry in self._parts]
        if listed != there:
            wrong = next((a or b for a, b in _side_by_side(listed, there) if a != b), ("", 0))
            raise ArchiveFailed(
                f"The manifest and the archive do not agree about {wrong[0]}: parts were added, left out or moved."
            )
        if strange := [name for name, _ in there if _kind_of(name) not in self.kinds]:
            raise ArchiveFailed(
                f"{strange[0]!r} is no name that an entry of such an archive has (docs/reference/archive.md)."
            )
        if [name for name, _ in there] != _in_order(name for name, _ in there):
            raise ArchiveFailed("The parts are not in their order, or numbers of parts are missing.")
        counted = dict.fromkeys(self.kinds, 0)
        for part in self.manifest.parts:
            counted[_kind_of(part.name)] += part.lines
        if {kind: count for kind, count in counted.items() if count} != self.manifest.counts:
            raise ArchiveFailed("The counts of the manifest are not the sums of its parts.")
        blobs = (len(self._blobs), sum(size for _, size in self._blobs.values()))
        if blobs != (self.manifest.blobs, self.manifest.blob_bytes):
            raise ArchiveFailed(
                f"The archive has {blobs[0]:,} blobs of {blobs[1]:,} bytes, but the manifest says"
                f" {self.manifest.blobs:,} of {self.manifest.blob_bytes:,}."
            )
        if counted["organization"] != 1:
            raise ArchiveFailed("An archive is of one organization, so there is one line of that kind.")

    def _read(self, entry: Entry) -> bytes:
        self._file.seek(entry.start)
        return self._file.read(entry.size)


class _OnlyFormat(msgspec.Struct):
    format: int


@contextmanager
def open_archive(file: Path) -> Iterator[Archive]:
    """For reading. ArchiveFailed if it is none, or not whole."""
    try:
        opened = file.open("rb")
    except OSError as problem:
        raise ArchiveFailed(f"{file} cannot be read: {problem.strerror}.") from problem
    with opened:
        if not opened.seekable():
            raise ArchiveFailed(f"{file} is a pipe: an archive is read more than once, so give a file.")
        yield Archive(opened)


def _check_scope(manifest: Manifest, *, moves: bool) -> None:
    if moves and manifest.scope != "moving":
        raise ArchiveFailed("This is no moving archive: `tertulia import archive` makes an organization of it.")
    if not moves and manifest.scope == "moving":
        raise ArchiveFailed(
            "This is a moving archive, with passwords and keys, and it should be encrypted: delete this file, and let"
            " `tertulia move in` read the encrypted one."
        )


def pictures_of(record: Record) -> list[tuple[str, Picture]]:
    """The blobs that a line refers to, by their names."""
    found: list[tuple[str, Picture | None]] = []
    match record:
        case Organization():
            found = [(f"organization/{kind}", getattr(record, kind)) for kind in ("icon", "logo", "night_logo")]
        case Person():
            found = [(f"avatar/{record.id}", record.avatar)]
        case Emoji():
            found = [(f"emoji/{record.id}", record.picture), (f"still/{record.id}", record.still)]
        case File():
            found = [(f"file/{record.id}", record.content)]
    return [(f"blobs/{name}", picture) for name, picture in found if picture is not None]


def _decoded(name: str, content: bytes, count: int, decoder: "msgspec.json.Decoder[Any]") -> Iterator[Record]:
    if not content.endswith(b"\n") or content.count(b"\n") != count:
        raise ArchiveFailed(f"{name} has not the {count:,} whole lines that the manifest says.")
    for number, ended in enumerate(io.BytesIO(content), 1):  # a list of them all may be many times as large
        line = ended[:-1]
        where = f"Line {number:,} of {name}"
        if len(line) > MOST_LINE_BYTES:
            raise ArchiveFailed(f"{where} has {len(line):,} bytes, and {MOST_LINE_BYTES:,} are the most that is read.")
        try:
            yield _without_zero(where, decoder.decode(line), line)
        except RecursionError as error:
            raise ArchiveFailed(f"{where} has values in values deeper than anybody needs.") from error
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise ArchiveFailed(f"{where} is not as it should be: {error}.") from error


def _without_zero(where: str, record: Record, line: bytes) -> Record:
    if b"\\u0000" in line.replace(b"\\\\", b""):
        raise ArchiveFailed(f"{where} has the character NUL, which no text can hold: leave it out.")
    return record


def _kind_of(name: str) -> str:
    found = PART_NAME.fullmatch(name)
    return found[1] if found else ""


def _in_order(names: Iterator[str]) -> list[str]:
    """The same parts as they should be: by kind, numbered from 1."""
    counted = dict.fromkeys(ALL_KINDS, 0)
    for name in names:
        counted[_kind_of(name)] += 1
    return [f"{kind}/{number:06}.jsonl" for kind, count in counted.items() for number in range(1, count + 1)]


def _side_by_side(first: list[Any], second: list[Any]) -> Iterator[tuple[Any, Any]]:
    for number in range(max(len(first), len(second))):
        yield (first[number] if number < len(first) else None, second[number] if number < len(second) else None)
