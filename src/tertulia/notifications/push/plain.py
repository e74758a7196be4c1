"""The text of a message for a notification: as it reads, without markup, and what is hidden stays hidden (pure)."""

import re
from html.parser import HTMLParser

MAX_READ = 20_000
"""Of very long messages only so much HTML is looked at."""
_EMOJI = re.compile(r"\bemoji-([0-9a-f]+(?:-[0-9a-f]+)*)\b")
_BREAKS = frozenset({"p", "br", "li", "div", "blockquote", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "tr", "td", "th"})
_VOID = frozenset({"br", "hr", "img", "input", "source"})


def plain_text(rendered: str, most: int) -> str:
    """At most so many characters, the last an ellipsis if there are more."""
    reader = _Reader()
    reader.feed(rendered[:MAX_READ])
    text = " ".join("".join(reader.parts).split())
    return text if len(text) <= most else text[: most - 1] + "…"


class _Reader(HTMLParser):
    """Collects text. Inside something that is told otherwise (`_told`: how deep we are in it) nothing is collected."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._told = 0
        self._is_formula = False
        """What we are in, if it is told otherwise; then its source is told, which is in the annotation."""
        self._is_source = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        kinds = given.get("class", "").split()
        if tag in _BREAKS:
            self.parts.append(" ")
        if self._told:
            self._told += tag not in _VOID
            self._is_source = self._is_formula and tag == "annotation"
        elif tag == "img" and "emoji" in kinds:
            self.parts.append(given.get("alt", ""))
        elif tag not in _VOID and (told := _told(kinds, given)) is not None:
            self.parts.append(told)
            self._told, self._is_formula = 1, "katex" in kinds

    def handle_endtag(self, tag: str) -> None:
        self._is_source = False
        if self._told and tag not in _VOID:
            self._told -= 1

    def handle_data(self, data: str) -> None:
        if not self._told or self._is_source:
            self.parts.append(data)


def _told(kinds: list[str], given: dict[str, str]) -> str | None:
    """What is told instead of an element; None: what is in it."""
    if "spoiler-content" in kinds:
        return "(…)"
    if "katex" in kinds:
        return ""
    found = _EMOJI.search(given.get("class", "")) if "emoji" in kinds else None
    return "".join(chr(int(point, 16)) for point in found[1].split("-")) if found else None
