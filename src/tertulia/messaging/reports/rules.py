"""What a report says (pure)."""

from typing import Literal

from tertulia.content.markup.writing import Quotation, Text
from tertulia.kernel.errors import Refusal
from tertulia.organization.realms.limits import MAX_TOPIC_LENGTH

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
_CUT = "(The message is longer: this is its beginning.)"
_ABOUT = "Reports about "


def clean_description(kind: Kind, description: str) -> str:
    """What somebody says of a message, trimmed; refuses a report that says nothing, or too much."""
    description = description.strip()
    if kind == "other" and not description:
        raise Refusal("Say in the description what is wrong with the message.")
    if len(description) > MAX_DESCRIPTION:
        raise Refusal(f"description is too long (limit: {MAX_DESCRIPTION} characters)")
    return description


def topic_about(name: str) -> str:
    """The topic for reports about somebody."""
    room = MAX_TOPIC_LENGTH - len(_ABOUT)
    return _ABOUT + (name if len(name) <= room else name[: room - 1] + "…")


def reason_text(kind: Kind, description: str, content: str) -> Text:
    """Why somebody reports a message, and what it says."""
    said: Text = (Quotation(description),) if description else ()
    cut: Text = (_CUT,) if len(content) > MAX_QUOTED else ()
    return ("Reason: ", WORDS[kind], ". ", *said, "The message:", Quotation(content[:MAX_QUOTED]), *cut)
