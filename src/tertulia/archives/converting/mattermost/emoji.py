"""Custom emoji of an export, with their pictures, and how reactions and texts name them."""

from tertulia.archives.converting.emoji import code_of, name_of
from tertulia.archives.converting.emoji_names import EmojiNames
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.values import Json, string
from tertulia.content.emoji import find_name
from tertulia.organization.custom_emoji.model import CUSTOM, UNICODE, EmojiType


class ExportEmoji:
    """Those of the export, and those that everybody has."""

    def __init__(self, incidents: Incidents) -> None:
        self.names = EmojiNames(incidents)
        self.pictures: dict[int, str] = {}
        """The paths of them, as the export says."""

    def add(self, said: Json) -> None:
        """A custom one."""
        made = self.names.add(string(said.get("name")))
        if made is not None:
            self.pictures[made.id] = string(said.get("image"))

    def name(self, name: str) -> str | None:
        """As our texts name it."""
        custom = self.names.by_name.get(name)
        return name_of(name) if custom is None else custom.name

    def find(self, name: str) -> tuple[str, str, EmojiType] | None:
        """Name, code and kind of what somebody reacted with."""
        custom = self.names.by_name.get(name)
        if custom is not None:
            return custom.name, str(custom.id), CUSTOM
        code = code_of(name)
        return None if code is None else (find_name(code) or name, code, UNICODE)
