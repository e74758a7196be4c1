"""What `mongodump` wrote: a folder with a file for each collection, or one file with all of them, compressed or not.

What is compressed or in one file is taken apart into the temporary place, within bounds, so that the pieces of files (GridFS) can
be read in their order. Names in it are compared with those that are known, and never become a path.
"""

import gzip
import hashlib
import os
import re
import sqlite3
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from tertulia.archives.converting.entries import BOMB_BYTES, BOMB_RATIO, CHUNK, Unreadable
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.rocketchat.bson import MOST_DOCUMENT, Broken, Document, documents, parse
from tertulia.archives.errors import ArchiveFailed

MARKER = "rocketchat_room"
BUCKETS = ("rocketchat_uploads", "rocketchat_avatars", "custom_emoji")
"""Where bytes of files are."""
COLLECTIONS = frozenset(
    (
        *("users", MARKER, "rocketchat_message", "rocketchat_subscription", "rocketchat_uploads"),
        *("rocketchat_avatars", "rocketchat_custom_emoji", "custom_emoji.files"),
        *(f"{bucket}.chunks" for bucket in BUCKETS),
    )
)
BROKEN = "collections of the dump that are cut or broken: their beginnings were read"
BESIDE = "//beside/"
"""Before the name of a file that lies in a folder of the operator's. No collection is called like it."""
MOST_FILE = 10 * 1024**3
_GZIP, _MAGIC, _END = b"\x1f\x8b", b"\x6d\xe2\x99\x81", b"\xff\xff\xff\xff"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}")


class Upload(NamedTuple):
    """A file, as the dump knows it."""

    name: str
    size: int
    owner: str
    group: str
    room: str
    """Who is in it may have the file, whoever else names it; nothing: the dump does not say."""
    entry: str
    """Where its bytes are; nothing if they are nowhere."""


class Dump:
    """The collections of a dump."""

    def __init__(self, path: Path, folder: Path, incidents: Incidents, beside: Path | None = None) -> None:
        """`folder`: a temporary place. `beside`: where files are that Rocket.Chat kept outside of its database."""
        self._incidents = incidents
        self._folder = folder
        self._beside = _files_in(beside)
        self._collections: dict[str, Path] = {}
        try:
            self._collections = self._find(path)
        except OSError as problem:
            raise ArchiveFailed(f"{path} cannot be read: {problem.strerror or problem}.") from problem
        if MARKER not in self._collections:
            raise ArchiveFailed(f"{path} has no {MARKER}: it is no dump of Rocket.Chat.")
        self._database = sqlite3.connect(folder / "dump.sqlite", isolation_level=None)
        self._database.executescript(
            """
            pragma journal_mode = off; pragma synchronous = off; pragma locking_mode = exclusive;
            create table chunk (
                bucket text, file text, n int, start int, length int, primary key (bucket, file, n)
            ) without rowid;
            create table upload (id text primary key, name text, size int, owner text, kind text, room text)
            without rowid;
            begin;
            """
        )
        self._index()

    def close(self) -> None:
        """Gone."""
        self._database.close()

    def size(self, name: str) -> int:
        """Bytes of a collection."""
        return self._collections[name].stat().st_size if name in self._collections else 0

    def seed(self) -> bytes:
        """Follows from the dump, and is known to nobody who does not have it: hashes of passwords are among the users."""
        digest = hashlib.sha256()
        for name in sorted(self._collections):
            digest.update(f"{name}\0{self.size(name)}\0".encode())
        if "users" in self._collections:
            with self._collections["users"].open("rb") as file:
                while piece := file.read(CHUNK):
                    digest.update(piece)
        return digest.digest()

    def documents(self, name: str, wanted: frozenset[str], *, is_counted: bool = True) -> Iterator[Document]:
        """Of a collection. What cannot be read is counted, and the rest goes on."""
        for found in self._all(name, wanted, is_counted=is_counted):
            yield found[2]

    def _all(
        self, name: str, wanted: frozenset[str], *, is_counted: bool = True
    ) -> Iterator[tuple[int, int, Document]]:
        if name not in self._collections:
            return
        try:
            with self._collections[name].open("rb") as file:
                for offset, length, document in documents(file, wanted):
                    if document is not None:
                        yield offset, length, document
                    elif is_counted:
                        self._incidents.lose("documents that cannot be read", f"{name}, byte {offset}")
        except (Broken, OSError) as problem:
            if is_counted:
                self._incidents.lose(BROKEN, name, str(problem))

    # Files

    def upload(self, id: str) -> Upload | None:
        """What the dump says about a file."""
        asked = "select name, size, owner, kind, room from upload where id = ?"
        row = self._database.execute(asked, (id,)).fetchone()
        if row is None:
            return None
        name, size, owner, group, room = row
        is_inside = self.has("rocketchat_uploads", id) or size == 0
        entry = f"rocketchat_uploads/{id}" if is_inside else BESIDE + id if id in self._beside else ""
        return Upload(name, size, owner, group, room, entry)

    def has(self, bucket: str, id: str) -> bool:
        """Whether there are bytes."""
        asked = "select 1 from chunk where bucket = ? and file = ? limit 1"
        return self._database.execute(asked, (bucket, id)).fetchone() is not None

    def pieces(self, entry: str) -> Iterator[bytes]:
        """The bytes of a file."""
        if entry.startswith(BESIDE):
            yield from _bytes_of(self._beside[entry.removeprefix(BESIDE)])
            return
        bucket, _, id = entry.partition("/")
        asked = "select start, length from chunk where bucket = ? and file = ? order by n"
        size = 0
        for start, length in self._database.execute(asked, (bucket, id)).fetchall():
            with self._collections[f"{bucket}.chunks"].open("rb") as file:
                file.seek(start)
                data = _data_of(file.read(length))
            if not isinstance(data, bytes):
                raise Unreadable("a piece of it has no bytes")
            size += len(data)
            if size > MOST_FILE:
                raise Unreadable(f"it has more than {MOST_FILE:,} bytes")
            yield data

    def _index(self) -> None:
        for bucket in BUCKETS:
            for start, length, chunk in self._all(f"{bucket}.chunks", frozenset(("files_id", "n"))):
                id, n = chunk.get("files_id"), chunk.get("n")
                if isinstance(id, str) and isinstance(n, (int, float)) and 0 <= n < 2**31:
                    row = (bucket, id, int(n), start, length)
                    self._database.execute("insert or ignore into chunk values (?, ?, ?, ?, ?)", row)
                else:
                    self._incidents.lose("pieces of files that belong to none", f"{bucket}.chunks, byte {start}")
        wanted = frozenset(("_id", "name", "size", "userId", "typeGroup", "rid"))
        for upload in self.documents("rocketchat_uploads", wanted):
            id, size = upload.get("_id"), upload.get("size")
            known = size if type(size) is int and 0 <= size < 2**53 else -1
            name, *rest = (_text(upload.get(key)) for key in ("name", "userId", "typeGroup", "rid"))
            if isinstance(id, str):
                facts = (id, name, known, *rest)
                self._database.execute("insert or ignore into upload values (?, ?, ?, ?, ?, ?)", facts)

    # Where collections are

    def _find(self, path: Path) -> dict[str, Path]:
        if path.is_dir():
            return self._in_folder(path)
        if not path.is_file():
            raise ArchiveFailed(f"{path} is neither a folder nor a file.")
        return self._in_archive(path)

    def _in_folder(self, path: Path) -> dict[str, Path]:
        for place in (path, *sorted(one for one in path.iterdir() if one.is_dir())):
            if any((place / f"{MARKER}.bson{ending}").is_file() for ending in ("", ".gz")):
                path = place
                break
        found = {}
        for name in sorted(COLLECTIONS):
            if (plain := path / f"{name}.bson").is_file():
                found[name] = plain
            elif (packed := path / f"{name}.bson.gz").is_file():
                found[name] = self._folder / f"{name}.bson"
                with _unpacked(packed) as source, found[name].open("wb") as target:
                    try:
                        while piece := source.read(CHUNK):
                            target.write(piece)
                    except Broken as problem:
                        self._incidents.lose(BROKEN, name, str(problem))
        return found

    def _in_archive(self, path: Path) -> dict[str, Path]:
        """All collections are in one file, each in several runs."""
        found: dict[tuple[str, str], Path] = {}
        whole: set[tuple[str, str]] = set()
        with _unpacked(path) as source:
            try:
                begins = source.read(4)
            except Broken as problem:
                raise ArchiveFailed(f"{path} is no archive of mongodump: {problem}.") from problem
            if begins != _MAGIC:
                raise ArchiveFailed(f"{path} is no archive of mongodump.")
            try:
                for _ in _run(source):  # what the archive says about itself
                    pass
                while (header := _one(source)) is not None:
                    said = parse(header, frozenset(("db", "collection", "EOF")))
                    key = _text(said.get("db")), _text(said.get("collection"))
                    if key[1] in COLLECTIONS and len(found) < 1000:
                        found.setdefault(key, self._folder / f"{len(found)}.bson")
                    if said.get("EOF") is True:
                        whole.add(key)
                    with found.get(key, Path(os.devnull)).open("ab") as target:
                        for document in _run(source):
                            target.write(document)
            except Broken as problem:
                self._incidents.lose(BROKEN, path.name, str(problem))
        for db, name in sorted(found.keys() - whole):
            self._incidents.lose(BROKEN, f"{db}.{name}", "its end is not in the archive")
        base = next((db for db, name in sorted(found) if name == MARKER), "")
        return {name: file for (db, name), file in found.items() if db == base}


class _Bounded:
    """A file that unpacks to no more than an honest one would."""

    def __init__(self, path: Path, file: "gzip.GzipFile") -> None:
        self._file, self._packed, self._size = file, max(1, path.stat().st_size), 0

    def read(self, size: int) -> bytes:
        try:
            piece = self._file.read(size)
        except (gzip.BadGzipFile, EOFError, zlib.error) as problem:
            raise Broken(str(problem)) from problem
        self._size += len(piece)
        if self._size > BOMB_BYTES and self._size > BOMB_RATIO * self._packed:
            raise ArchiveFailed(f"The file unpacks to more than {BOMB_RATIO} times its size: that is no dump.")
        return piece


@contextmanager
def _unpacked(path: Path) -> "Iterator[IO[bytes] | _Bounded]":
    with path.open("rb") as file:
        is_packed = file.read(2) == _GZIP
        file.seek(0)
        if is_packed:
            with gzip.GzipFile(fileobj=file) as unpacked:
                yield _Bounded(path, unpacked)
        else:
            yield file


def _run(source: "IO[bytes] | _Bounded") -> Iterator[bytes]:
    while (document := _one(source)) is not None:
        yield document


def _one(source: "IO[bytes] | _Bounded") -> bytes | None:
    """A document; None at the end of a run, and of the file."""
    head = source.read(4)
    if not head or head == _END:
        return None
    length = struct.unpack("<i", head)[0] if len(head) == 4 else 0
    if not 5 <= length <= MOST_DOCUMENT:
        raise Broken("there is no document where one should begin")
    data = head + source.read(length - 4)
    if len(data) < length:
        raise Broken("it ends in the middle of a document")
    return data


def _data_of(chunk: bytes) -> object:
    """What is not asked for when chunks are listed is not looked into: it may be broken all the same."""
    try:
        return parse(chunk, frozenset(("data",))).get("data")
    except Broken as problem:
        raise Unreadable(str(problem)) from problem


def _files_in(folder: Path | None) -> dict[str, Path]:
    """By their ids: Rocket.Chat calls them so, with or without an ending."""
    if folder is None:
        return {}
    if not folder.is_dir():
        raise ArchiveFailed(f"{folder} is no folder.")
    files = [path for path in sorted(folder.iterdir()) if path.is_file() and not path.is_symlink()]
    return {path.name.partition(".")[0]: path for path in files if _NAME.fullmatch(path.name.partition(".")[0])}


def _bytes_of(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            while piece := file.read(CHUNK):
                yield piece
    except OSError as problem:
        raise Unreadable(problem.strerror or "it cannot be read") from problem


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
