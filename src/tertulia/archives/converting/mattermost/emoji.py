"""Custom emoji: what they are called here, and how reactions and texts name them."""

import re

from tertulia.archives.converting.emoji import code_of, name_of
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.values import Json, string
from tertulia.content.emoji import find_name
from tertulia.organization.custom_emoji.model import CUSTOM, UNICODE, EmojiType
from tertulia.organization.custom_emoji.rules import is_taken_by_default

MOST_NAME = 90
_FORBIDDEN = re.compile(r"[^0-9a-z_-]+")


class EmojiNames:
    """Those of the export, and those that everybody has."""

    def __init__(self, incidents: Incidents) -> None:
        self._incidents = incidents
        self._ids: dict[str, int] = {}
        self._taken: dict[str, int] = {}
        self.custom: dict[int, str] = {}
        """Their names here, by id."""
        self.pictures: dict[int, str] = {}
        """The paths of them, as the export says."""

    def add(self, said: Json, where: str) -> None:
        """A custom one."""
        name = string(said.get("name"))
        cleaned = _FORBIDDEN.sub("_", name.lower()).strip("_-")[:MOST_NAME].rstrip("_-")
        if not cleaned or name in self._ids:
            self._incidents.lose("custom emoji without a name, or in the export twice", where, name)
            return
        ours, number = cleaned, self._taken.get(cleaned, 1)
        while is_taken_by_default(ours) or ours in self._taken:
            number += 1
            ours = f"{cleaned}_{number}"
        self._taken[cleaned] = number
        self._taken.setdefault(ours, 1)
        if ours != name:
            self._incidents.change("names of custom emoji that could not stay", where, f"{name} -> {ours}")
        id = self._ids[name] = len(self._ids) + 1
        self.custom[id] = ours
        self.pictures[id] = string(said.get("image"))

    def name(self, name: str) -> str | None:
        """As our texts name it."""
        id = self._ids.get(name)
        return name_of(name) if id is None else self.custom[id]

    def find(self, name: str) -> tuple[str, str, EmojiType] | None:
        """Name, code and kind of what somebody reacted with."""
        id = self._ids.get(name)
        if id is not None:
            return self.custom[id], str(id), CUSTOM
        code = code_of(name)
        return None if code is None else (find_name(code) or name, code, UNICODE)
