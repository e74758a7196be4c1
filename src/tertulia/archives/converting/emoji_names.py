"""Custom emoji of a source: names that they may have here, and what they were called there."""

import re
from collections.abc import Iterable
from datetime import datetime

import msgspec

from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.topics import EPOCH
from tertulia.archives.form import kinds
from tertulia.organization.custom_emoji.rules import is_taken_by_default

MOST_NAME = 80
"""Room for a number after it is left."""
MOST_EMOJI = 50_000
_NOT_IN_NAMES = re.compile(r"[^0-9a-z_-]+")


class EmojiNames:
    """All of them."""

    def __init__(self, incidents: Incidents) -> None:
        self._incidents = incidents
        self._taken: dict[str, int] = {}
        self.all: list[kinds.Emoji] = []
        self.by_name: dict[str, kinds.Emoji] = {}
        """By each name that it has there."""

    def add(self, said: str, others: Iterable[str] = ()) -> kinds.Emoji | None:
        """One with its other names, which stand for the same here. None if it has no name that could be one."""
        wanted = _NOT_IN_NAMES.sub("_", said.lower())[:MOST_NAME].strip("_-")
        if not wanted or said in self.by_name or len(self.all) >= MOST_EMOJI:
            self._incidents.lose("custom emoji without a name of their own", said)
            return None
        name = self._free(wanted)
        if name != said:
            self._incidents.change("names of custom emoji that could not stay", said, f"{said} -> {name}")
        made = kinds.Emoji(id=len(self.all) + 1, name=name, created=EPOCH)
        self.all.append(made)
        for one in (said, *others):
            self.by_name.setdefault(one, made)
        return made

    def _free(self, wanted: str) -> str:
        """This name, or one that is like it: not one that another has, nor one of Unicode's, which it would hide."""
        name, number = wanted, self._taken.get(wanted, 1)
        while is_taken_by_default(name) or name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken[wanted] = number
        self._taken.setdefault(name, 1)
        return name

    def records(self, created: datetime) -> list[kinds.Emoji]:
        """As the archive has them."""
        return [msgspec.structs.replace(one, created=created) for one in self.all]
