"""The lines of an export, kind by kind, and the files beside them.

A kind is read when what it refers to is known, so the lines are gone through several times; what kind a line is of, its first
bytes say, and only those that are wanted are decoded. A thread is one line, so lines are long: each is bounded.
"""

import hashlib
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType

from tertulia.archives.converting.entries import CHUNK, JUNK, Unreadable
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.streams import BROKEN
from tertulia.archives.converting.values import Json, string
from tertulia.archives.converting.zips import Source, decoded_record
from tertulia.archives.errors import ArchiveFailed

MOST_LINE = 32 * 1024 * 1024
"""Bytes: a thread with all its replies."""
MOST_LINES = 1024**4
"""Bytes of all of them."""
BOM = b"\xef\xbb\xbf"
KINDS = (
    "version", "role", "scheme", "team", "channel", "user", "bot", "emoji", "post", "direct_channel", "direct_post",
)  # fmt: skip
_KIND = re.compile(rb'\s*\{\s*"type"\s*:\s*"([a-z_]{1,30})"')
_LINES = re.compile(r"(?:.*/)?(?:[^/]+\.jsonl|export\.json)")
Done = Callable[[int], None]


class Export:
    """What somebody gave us: a zip, or the lines alone."""

    def __init__(self, path: Path, incidents: Incidents) -> None:
        self._path = path
        self._incidents = incidents
        self._source: Source | None = None
        self._is_told = False
        if _is_zip(path):
            name = _lines_of(path)
            self._source = Source(path, name.rpartition("/")[2], incidents)
            self._name = name.rpartition("/")[2]
        else:
            _check_lines(path)

    def __enter__(self) -> "Export":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._source is not None:
            self._source.__exit__(kind, error, at)

    @property
    def entries(self) -> list[str]:
        """Files beside the lines."""
        return [] if self._source is None else [name for name in self._source.names if name != self._name]

    @property
    def size(self) -> int:
        """Of the lines, in bytes."""
        return self._path.stat().st_size if self._source is None else self._source.size(self._name)

    def seed(self) -> bytes:
        """Follows from everything in it, and is known to nobody who does not have it."""
        if self._source is not None:
            return self._source.seed()
        with self._path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()

    def pieces(self, entry: str, most: int) -> Iterator[bytes]:
        """The bytes of a file beside the lines."""
        if self._source is None:
            raise Unreadable("the lines came without files")
        yield from self._source.pieces(entry, most)

    def lines(self, *wanted: str, done: Done = lambda _: None) -> Iterator[tuple[str, str, Json]]:
        """Where it is, what kind it is of, and what it says. What cannot be read is counted, once. `done`: told bytes."""
        is_first, self._is_told = not self._is_told, True
        size = 0
        for number, line in enumerate(self._raw_lines(is_counted=is_first), 1):
            where = f"line {number}"
            if line is None:
                if is_first:
                    self._incidents.lose("lines that are too long", where)
                continue
            size += len(line) + 1
            done(size)
            found = _KIND.match(line)
            told = found[1].decode() if found else ""
            if told in wanted or (told not in KINDS and is_first) or not told:
                yield from self._line(where, line, wanted, is_counted=is_first or told in wanted)

    def _line(
        self, where: str, line: bytes, wanted: tuple[str, ...], *, is_counted: bool
    ) -> Iterator[tuple[str, str, Json]]:
        if not line.strip():
            return
        record = decoded_record(line.removeprefix(BOM))
        kind = string(record.get("type")) if isinstance(record, dict) else ""
        about = record if kind == "version" else record.get(kind) if isinstance(record, dict) else None
        if kind in wanted and isinstance(about, dict):
            yield where, kind, about
        elif kind in wanted or not isinstance(record, dict):
            # A kind is wanted once, but what is no record at all is met each time.
            self._lose(is_counted or kind in wanted, "lines that cannot be read", where)
        elif kind not in KINDS:
            self._lose(is_counted, "lines of an unknown kind", where, kind)

    def _lose(self, is_counted: bool, what: str, where: str, why: str = "") -> None:
        if is_counted:
            self._incidents.lose(what, where, why)

    def _raw_lines(self, *, is_counted: bool) -> Iterator[bytes | None]:
        """None for one that is too long."""
        try:
            yield from split(self._bytes())
        except Unreadable as problem:
            self._lose(is_counted, BROKEN, self._path.name, str(problem))

    def _bytes(self) -> Iterator[bytes]:
        if self._source is not None:
            yield from self._source.pieces(self._name, MOST_LINES)
            return
        with self._path.open("rb") as file:
            while piece := file.read(CHUNK):
                yield piece


def split(pieces: Iterator[bytes]) -> Iterator[bytes | None]:
    """Lines, without holding more than one; None for one that is too long."""
    kept: list[bytes] = []
    size = 0
    for piece in pieces:
        for place, part in enumerate(piece.split(b"\n")):
            if place:
                yield b"".join(kept) if size <= MOST_LINE else None
                kept, size = [], 0
            size += len(part)
            if size <= MOST_LINE:
                kept.append(part)
            else:
                kept.clear()
    if size:
        yield b"".join(kept) if size <= MOST_LINE else None


def _is_zip(path: Path) -> bool:
    try:
        return zipfile.is_zipfile(path) or _start(path, 2) == b"PK"
    except OSError as problem:
        raise ArchiveFailed(f"{path} cannot be read: {problem.strerror}.") from problem


def _lines_of(path: Path) -> str:
    """The entry with the lines: the one that Mattermost's import would take. Programs call it as they like."""
    try:
        with zipfile.ZipFile(path) as packed:
            found = [name for name in packed.namelist() if _LINES.fullmatch(name) and not JUNK.search(name)]
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as problem:
        raise ArchiveFailed(f"{path} is no zip, or was not copied whole: {problem}.") from problem
    if not found:
        raise ArchiveFailed("The zip has no import.jsonl: it is not such an export.")
    return min(found, key=lambda name: (name.count("/"), not name.endswith("import.jsonl"), name))


def _check_lines(path: Path) -> None:
    start = _start(path, CHUNK).removeprefix(BOM).lstrip()
    if not start.startswith(b"{"):
        raise ArchiveFailed(f"{path} is neither a zip nor a file of JSON lines: it is not such an export.")


def _start(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        return file.read(size)
