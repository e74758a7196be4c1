"""Telling a message's HTML otherwise: emoji are letters, formulas are their source, and what is hidden stays hidden (pure)."""

import re
from html.parser import HTMLParser

from tertulia.content.emoji import characters_of

MAX_READ = 20_000
"""Of very long messages only so much HTML is looked at."""
REMEMBERED = 256
"""So many messages are not read again for the next person: one may take 50 milliseconds of the worker's only thread."""
VOID = frozenset({"br", "hr", "img", "input", "source"})
_EMOJI = re.compile(r"\bemoji-([0-9a-f]+(?:-[0-9a-f]+)*)\b")


class Retelling(HTMLParser):
    """Inside something that is told otherwise (`_told`: how deep we are in it) nothing is said."""

    def __init__(self) -> None:
        super().__init__()
        self._told = 0
        self._is_formula = False
        """What we are in, if it is told otherwise; then its source is told, which is in the annotation."""
        self._is_source = False

    def say(self, text: str) -> None:
        """Text of the message, or what is told instead of an element."""
        raise NotImplementedError

    def begin(self, tag: str, given: dict[str, str]) -> None:
        """An element whose content is told."""

    def end(self, tag: str) -> None:
        """Its end."""

    def instead(self, kinds: list[str], given: dict[str, str]) -> str | None:
        """What is told instead of an element; None: what is in it."""
        if "spoiler-content" in kinds:
            return "(…)"
        if "katex" in kinds or "message_embed" in kinds:
            return ""
        found = _EMOJI.search(given.get("class", "")) if "emoji" in kinds else None
        return characters_of(found[1]) if found else None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Of HTMLParser."""
        given = {name: value or "" for name, value in attrs}
        kinds = given.get("class", "").split()
        if self._told:
            self._told += tag not in VOID
            self._is_source = self._is_formula and tag == "annotation"
        elif tag == "img":
            self.say(given.get("alt", "") if "emoji" in kinds else "")
        elif tag not in VOID and (told := self.instead(kinds, given)) is not None:
            self.say(told)
            self._told, self._is_formula = 1, "katex" in kinds
        else:
            self.begin(tag, given)

    def handle_endtag(self, tag: str) -> None:
        """Of HTMLParser."""
        self._is_source = False
        if tag in VOID:
            return
        if self._told:
            self._told -= 1
        else:
            self.end(tag)

    def handle_data(self, data: str) -> None:
        """Of HTMLParser."""
        if not self._told or self._is_source:
            self.say(data)
