"""The text of a message for a notification: as it reads, without markup, and what is hidden stays hidden (pure)."""

import functools

from tertulia.notifications.concerns.retelling import MAX_READ, REMEMBERED, Retelling

_BREAKS = frozenset({"p", "br", "li", "div", "blockquote", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "tr", "td", "th"})


def plain_text(rendered: str, most: int) -> str:
    """At most so many characters, the last an ellipsis if there are more."""
    text = _told(rendered[:MAX_READ])
    return text if len(text) <= most else text[: most - 1] + "…"


@functools.lru_cache(maxsize=REMEMBERED)
def _told(rendered: str) -> str:
    """What concerns many people is pushed to one after another, and read once."""
    reader = _Reader()
    reader.feed(rendered)
    return " ".join("".join(reader.parts).split())


class _Reader(Retelling):
    """Collects text."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BREAKS:
            self.parts.append(" ")
        super().handle_starttag(tag, attrs)

    def say(self, text: str) -> None:
        self.parts.append(text)
