"""What somebody sent as one file with many in it: bounds, names that are not taken, and where in it the export begins."""

import re
from typing import TypeVar

from tertulia.archives.converting.report import Incidents
from tertulia.archives.errors import ArchiveFailed

E = TypeVar("E")
MOST_ENTRIES = 2_000_000
BOMB_BYTES, BOMB_RATIO = 1024**3, 50
"""What unpacks to more than so much, and to more than so many times its size, is no export."""
CHUNK = 1024 * 1024
ELSEWHERE = re.compile(r"^/|^[A-Za-z]:|\\|\x00|(?:^|/)\.\.?(?:/|$)")
JUNK = re.compile(r"(?:^|/)(?:__MACOSX|\.DS_Store|Thumbs\.db)(?:/|$)")


class Unreadable(Exception):
    """An entry that cannot be had. The text says why."""


class Entries(dict[str, E]):
    """Those that are good, by their names. What is not taken is counted."""

    def __init__(self, container: str, incidents: Incidents) -> None:
        """`container`: what they are in, as people call it."""
        super().__init__()
        self._container = container
        self._incidents = incidents

    def take(self, name: str, entry: E, *, is_file: bool) -> None:
        """One that is no folder."""
        if JUNK.search(name):
            return
        if ELSEWHERE.search(name) or not is_file:
            self._incidents.lose("entries whose name or kind leads elsewhere", repr(name))
        elif name in self:
            self._incidents.lose(f"entries that are in the {self._container} twice: the first one counts", name)
        else:
            self[name] = entry

    def below(self, marker: str) -> dict[str, E]:
        """Sorted, by their names below the folder with `marker`: a file that every export has, and where it begins."""
        roots = [name.removesuffix(marker) for name in self if name == marker or name.endswith(f"/{marker}")]
        if not roots:
            raise ArchiveFailed(f"The {self._container} has no {marker}: it is not such an export.")
        root = min(roots, key=lambda one: (one.count("/"), one))
        found = {}
        for name in sorted(self):
            if name.startswith(root):
                found[name.removeprefix(root)] = self[name]
            else:
                self._incidents.lose("entries outside of the export", name)
        return found
