"""Files of an export, in folders and zips: JSON, and what it refers to. Names are compared, and never become a path."""

import hashlib
import re
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path, PurePosixPath
from typing import Any

from tertulia.archives.converting.entries import CHUNK, JUNK, MOST_ENTRIES, Unreadable
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.streams import members
from tertulia.archives.converting.zips import Source
from tertulia.archives.errors import ArchiveFailed

MOST_FILE = 10 * 1024**3
FETCHED = "//fetched/"
"""Before the id of a file that was fetched. Nothing that lies in a folder or a zip has a name like it."""
_SLASHES = re.compile(r"[\\/]+")
HEAD = frozenset(("guild", "channel"))


class Files:
    """All of them, by names that begin with the place of their folder or zip in the order of the command."""

    def __init__(self, paths: list[Path], incidents: Incidents) -> None:
        self._incidents = incidents
        self._zips: dict[str, tuple[Source, str]] = {}
        self._paths: dict[str, Path] = {}
        self._open = ExitStack()
        self.fetched: dict[str, Path] = {}
        try:
            for place, path in enumerate(paths):
                self._add(str(place), path)
        except BaseException:
            self._open.close()
            raise
        self.names = sorted([*self._zips, *self._paths])
        self._by_ending = {_ending(name): name for name in reversed(self.names)}

    def close(self) -> None:
        """Zips are closed."""
        self._open.close()

    def _add(self, place: str, path: Path) -> None:
        if path.is_dir():
            self._add_folder(place, path)
        elif path.suffix.lower() == ".json" and path.is_file():
            self._paths[f"{place}/{path.name}"] = path
            beside = path.with_name(f"{path.name}_Files")
            if beside.is_dir():
                self._add_folder(f"{place}/{beside.name}", beside)
        else:
            source = self._open.enter_context(Source(path, "", self._incidents))
            self._zips |= {f"{place}/{name}": (source, name) for name in source.names}

    def _add_folder(self, place: str, folder: Path) -> None:
        try:
            for path in sorted(folder.rglob("*")):
                name = path.relative_to(folder).as_posix()
                if path.is_symlink() or not path.is_file() or JUNK.search(name):
                    continue
                self._paths[f"{place}/{name}"] = path
                if len(self._paths) > MOST_ENTRIES:
                    raise ArchiveFailed(f"{folder} has more than {MOST_ENTRIES:,} files, which are the most.")
        except OSError as problem:
            raise ArchiveFailed(f"{folder} cannot be read: {problem.strerror}.") from problem

    def size(self, name: str) -> int:
        """Bytes of a file, as far as is said."""
        if name in self._zips:
            source, inside = self._zips[name]
            return source.size(inside)
        return self._paths[name].stat().st_size

    def seed(self) -> bytes:
        """Follows from all files, and is known to nobody who does not have them."""
        digest = hashlib.sha256()
        for name in self.names:
            digest.update(f"{name}\0{self.size(name)}\0".encode(errors="replace"))
        for name in self.names:
            if name.endswith(".json"):
                with suppress(Unreadable):
                    for piece in self.pieces(name):
                        digest.update(piece)
        return digest.digest()

    def pieces(self, name: str) -> Iterator[bytes]:
        """The bytes of a file. Unreadable if it is broken."""
        if name in self._zips:
            source, inside = self._zips[name]
            yield from source.pieces(inside, MOST_FILE)
            return
        path = self.fetched[name.removeprefix(FETCHED)] if name.startswith(FETCHED) else self._paths[name]
        try:
            with path.open("rb") as file:
                while piece := file.read(CHUNK):
                    yield piece
        except OSError as problem:
            raise Unreadable(problem.strerror or "it cannot be read") from problem

    def find(self, said: str, beside: str) -> str | None:
        """The file that a text of an export means, if it is there.

        The exporter writes paths as its system does, and whole ones if files are elsewhere: then the end of it tells which.
        """
        path = _SLASHES.sub("/", said)
        name = f"{beside.rpartition('/')[0]}/{path}"
        if name in self._zips or name in self._paths:
            return name
        return self._by_ending.get(_ending(path)) if path.count("/") else None

    def records(self, name: str, *, is_counted: bool = True) -> Iterator[tuple[str, Any]]:
        """`guild` and `channel`, then each member of `messages`. What comes after something broken is lost, and told."""
        lose = self._incidents.lose if is_counted else _say_nothing
        try:
            yield from members(self.pieces(name), name, lose, HEAD)
        except Unreadable as problem:
            lose("files of the export that cannot be read", name, str(problem))


def _ending(name: str) -> str:
    return "/".join(PurePosixPath(name).parts[-2:])


def _say_nothing(_what: str, _where: str, _why: str) -> None:
    """It is read a second time, and counted then."""
