"""Custom emoji of a source: names that they may have here, and what they were called there."""

import re
from collections.abc import Iterable
from datetime import datetime

import msgspec

from tertulia.archives.converting.names import UniqueNames
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.topics import EPOCH
from tertulia.archives.form import kinds

MOST_NAME = 90
MOST_EMOJI = 50_000
_NOT_IN_NAMES = re.compile(r"[^0-9a-z_-]+")


class EmojiNames:
    """All of them."""

    def __init__(self, incidents: Incidents) -> None:
        self._incidents = incidents
        self._names = UniqueNames(MOST_NAME)
        self.all: list[kinds.Emoji] = []
        self.by_name: dict[str, kinds.Emoji] = {}
        """By each name that it has there."""

    def add(self, said: str, others: Iterable[str] = ()) -> kinds.Emoji | None:
        """One with its other names, which stand for the same here. None if it has no name that could be one."""
        wanted = _NOT_IN_NAMES.sub("_", said.lower())[:80].strip("_-")
        if not wanted or said in self.by_name or len(self.all) >= MOST_EMOJI:
            self._incidents.lose("custom emoji without a name of their own", said)
            return None
        name = _NOT_IN_NAMES.sub("_", self._names.take(wanted, wanted)).strip("_-")
        if name != said:
            self._incidents.change("names of custom emoji that could not stay", said, f"{said} -> {name}")
        made = kinds.Emoji(id=len(self.all) + 1, name=name, created=EPOCH)
        self.all.append(made)
        for one in (said, *others):
            self.by_name.setdefault(one, made)
        return made

    def records(self, created: datetime) -> list[kinds.Emoji]:
        """As the archive has them."""
        return [msgspec.structs.replace(one, created=created) for one in self.all]
