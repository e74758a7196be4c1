"""What a report says (pure)."""

from typing import Literal

from tertulia.kernel.errors import Refusal
from tertulia.organization.realms.limits import MAX_TOPIC_LENGTH

Kind = Literal["spam", "harassment", "inappropriate", "norms", "other"]
MAX_DESCRIPTION = 1000
MAX_QUOTED = 7000
"""A report has to fit into a message: of a longer text the beginning is quoted, and the report says so."""


def clean_description(kind: Kind, description: str) -> str:
    """What somebody says of a message, trimmed; refuses a report that says nothing, or too much."""
    description = description.strip()
    if kind == "other" and not description:
        raise Refusal("Say in the description what is wrong with the message.")
    if len(description) > MAX_DESCRIPTION:
        raise Refusal(f"description is too long (limit: {MAX_DESCRIPTION} characters)")
    return description


def topic_about(prefix: str, name: str) -> str:
    """The topic for reports about somebody."""
    room = MAX_TOPIC_LENGTH - len(prefix)
    return prefix + (name if len(name) <= room else name[: room - 1] + "…")
