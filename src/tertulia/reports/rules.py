"""What a report says (pure)."""

from typing import Literal

from tertulia.kernel.errors import Refusal
from tertulia.realms.limits import MAX_TOPIC_LENGTH

Kind = Literal["spam", "harassment", "inappropriate", "norms", "other"]
WORDS: dict[Kind, str] = {
    "spam": "spam",
    "harassment": "harassment",
    "inappropriate": "inappropriate content",
    "norms": "against the rules of the organization",
    "other": "another reason",
}
MAX_DESCRIPTION = 1000
MAX_QUOTED = 7000
"""A report has to fit into a message: of a longer text the beginning is quoted, and the report says so."""
_CUT = "\n\n(The message is longer: this is its beginning.)"
_ABOUT = "Reports about "


def check_description(kind: Kind, description: str) -> None:
    """Refuse a report that says nothing."""
    if kind == "other" and not description.strip():
        raise Refusal("Say in the description what is wrong with the message.")


def topic_about(name: str) -> str:
    """The topic for reports about somebody."""
    room = MAX_TOPIC_LENGTH - len(_ABOUT)
    return _ABOUT + (name if len(name) <= room else name[: room - 1] + "…")


def report_text(reporter: str, sender: str, place: str, kind: Kind, description: str, content: str) -> str:
    """What the notification bot says; people and the place are written as mentions and links."""
    reason = f"Reason: {WORDS[kind]}."
    said = f"\n\n{_quoted(description.strip())}" if description.strip() else ""
    is_long = len(content) > MAX_QUOTED
    quoted = _quoted(content[:MAX_QUOTED]) + (_CUT if is_long else "")
    return f"{reporter} reported {place} by {sender}. {reason}{said}\n\nThe message:\n\n{quoted}"


def _quoted(text: str) -> str:
    """A quotation that nothing in the text can end."""
    fence = "~" * 3
    while fence in text:
        fence += "~"
    return f"{fence}quote\n{text}\n{fence}"
