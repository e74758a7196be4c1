"""The text of a message for a notification: as it reads, without markup, and what is hidden stays hidden (pure)."""

from tertulia.notifications.concerns.retelling import MAX_READ, Retelling

_BREAKS = frozenset({"p", "br", "li", "div", "blockquote", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "tr", "td", "th"})


def plain_text(rendered: str, most: int) -> str:
    """At most so many characters, the last an ellipsis if there are more."""
    reader = _Reader()
    reader.feed(rendered[:MAX_READ])
    text = " ".join("".join(reader.parts).split())
    return text if len(text) <= most else text[: most - 1] + "…"


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
