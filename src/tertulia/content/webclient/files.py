"""The built files, held in memory: they are few and small, and each is read from disk once.

In development the folder is looked at again with each page, so that a new build shows without a restart.
"""

import hashlib
import mimetypes
from collections.abc import Mapping
from pathlib import Path

import msgspec

FOLDER = Path(__file__).parent / "built"
INDEX = "index.html"
ENCODINGS = {"br": ".br", "gzip": ".gz"}
_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}


class BuiltFile(msgspec.Struct, frozen=True):
    """A file as it is sent, by content encoding; "" is the file itself."""

    content_type: str
    etag: str
    bodies: dict[str, bytes]


class BuiltFiles:
    """All files of a build by their path in the folder; none if nothing was built."""

    def __init__(self, folder: Path = FOLDER, *, watch: bool = False) -> None:
        self._folder = folder
        self._watch = watch
        self._made = self._moment()
        self._files = _read(folder)

    def all(self) -> Mapping[str, BuiltFile]:
        """The files of the newest build."""
        if self._watch and (now := self._moment()) != self._made:
            self._made, self._files = now, _read(self._folder)
        return self._files

    def _moment(self) -> int:
        """When the folder was built: its index is written last."""
        try:
            return (self._folder / INDEX).stat().st_mtime_ns
        except FileNotFoundError:
            return 0


def _read(folder: Path) -> dict[str, BuiltFile]:
    if not (folder / INDEX).is_file():
        return {}
    paths = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    paths = {name: path for name, path in paths.items() if not name.startswith(".")}  # the build's own notes
    compressed = tuple(ENCODINGS.values())
    return {name: _file(name, paths) for name in paths if not name.endswith(compressed)}


def _file(name: str, paths: Mapping[str, Path]) -> BuiltFile:
    body = paths[name].read_bytes()
    bodies = {"": body}
    for encoding, ending in ENCODINGS.items():
        if name + ending in paths:
            bodies[encoding] = paths[name + ending].read_bytes()
    known = _TYPES.get(paths[name].suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    return BuiltFile(known, hashlib.sha256(body).hexdigest()[:24], bodies)
