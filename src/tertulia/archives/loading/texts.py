"""Ids in texts: mentions, links to messages and conversations, addresses of files (pure).

All ids of a family move by the same distance, also those that the archive does not have: so none comes to mean another.
"""

import re
from collections.abc import Sequence

from tertulia.archives.loading.shifts import Shifts

_PERSON = re.compile(r"(@_?\*\*[^*\n|]*\|)(\d{1,15})(?=\*\*)")
_MESSAGE = re.compile(r"(#\*\*[^*\n>]+>[^*\n]*?@)(\d{1,15})(?=\*\*)")
_NARROW = re.compile(r"(https?://[^\s/()<>\[\]\"']+)?(/?#narrow/)([^\s()<>\[\]\"'`]*)")
_UPLOAD = re.compile(r"(https?://[^\s/()<>\[\]\"']+)?(/?user_uploads/)(\d{1,15})(?=/)")
_LEADING = re.compile(r"(\d{1,15}(?:,\d{1,15})*)(.*)", re.DOTALL)
_OPTION = re.compile(r"(\"key\"\s*:\s*\")(\d{1,15})(?=,\d{1,9}\")")
_FAMILIES = {
    **dict.fromkeys(("channel", "stream"), "conversation"),
    **dict.fromkeys(("near", "with", "id"), "message"),
    **dict.fromkeys(("dm", "pm-with", "dm-including", "group-pm-with", "sender"), "person"),
}
"""Of an operator in an address: whose ids its operand has."""


class Rewriter:
    """Texts as they are after the move."""

    def __init__(self, shifts: Shifts, realm_id: int, sources: Sequence[str], target: str) -> None:
        """`sources`: addresses that the organization had, which become `target`. `realm_id`: the one it had."""
        self._shifts = shifts
        self._realm_id = realm_id
        self._sources = {source.rstrip("/") for source in sources}
        self._target = target.rstrip("/")
        self._is_needed = shifts != Shifts() or self._sources != {self._target}

    def text(self, text: str) -> str:
        """A text with other ids in it; most have none."""
        if not self._is_needed:
            return text
        if "**" in text:
            text = _PERSON.sub(lambda found: found[1] + moved(found[2], self._shifts.person), text)
            text = _MESSAGE.sub(lambda found: found[1] + moved(found[2], self._shifts.message), text)
        if "#narrow/" in text:
            text = _NARROW.sub(self._narrow, text)
        if "user_uploads/" in text:
            text = _UPLOAD.sub(self._upload, text)
        return text

    def path(self, path: str) -> str:
        """Of a file, which begins with the organization's id."""
        _, _, rest = path.partition("/")
        return f"{self._realm_id + self._shifts.realm}/{rest}"

    def emoji_code(self, kind: str, code: str) -> str:
        """Of a reaction or a status: that of a custom emoji is its id."""
        return moved(code, self._shifts.emoji) if kind == "realm_emoji" and code.isdecimal() else code

    def submessage(self, content: str) -> str:
        """What a widget was told: an option or task that somebody added is named by their id."""
        return _OPTION.sub(lambda found: found[1] + moved(found[2], self._shifts.person), content)

    def _narrow(self, found: "re.Match[str]") -> str:
        base, opening, rest = found[1], found[2], found[3]
        if base is not None and base not in self._sources:
            return found[0]
        parts = rest.split("/")
        for place in range(0, len(parts) - 1, 2):
            family = _FAMILIES.get(parts[place].removeprefix("-"))
            if family is not None and (operand := _LEADING.fullmatch(parts[place + 1])) is not None:
                shift = getattr(self._shifts, family)
                ids = ",".join(moved(one, shift) for one in operand[1].split(","))
                parts[place + 1] = ids + operand[2]
        return (self._target if base is not None else "") + opening + "/".join(parts)

    def _upload(self, found: "re.Match[str]") -> str:
        base, opening, realm_id = found[1], found[2], int(found[3])
        if realm_id != self._realm_id or (base is not None and base not in self._sources):
            return found[0]
        return (self._target if base is not None else "") + opening + str(realm_id + self._shifts.realm)


def moved(id: str, shift: int) -> str:
    """Of an id that the archive does not have, and that would be none here: 0, which nothing has."""
    return str(max(0, int(id) + shift))
