"""Narrows of event queues (pure): pairs of texts, decided from the message event alone (contract: narrow.md 7)."""

from collections.abc import Collection, Sequence

import msgspec

from tertulia.kernel.errors import Refusal
from tertulia.narrows.conditions import RESOLVED_PREFIX
from tertulia.narrows.terms import ALIASES

_OPERATORS = frozenset(["channel", "topic", "sender", "is"])
_MENTIONS = frozenset(["mentioned", "stream_wildcard_mentioned", "topic_wildcard_mentioned", "group_mentioned"])


class Heard(msgspec.Struct, frozen=True):
    """What a narrow can ask about a message that was just sent, for one listener."""

    channel: str | None
    """The name of its channel; None: a direct message."""
    topic: str
    sender_email: str
    flags: Collection[str]
    empty_topic: str = ""
    """How the realm names the empty topic."""


def check_pairs(narrow: Sequence[tuple[str, str]]) -> None:
    """Refuse what cannot be decided from a message event."""
    for operator, operand in narrow:
        if ALIASES.get(operator, operator) not in _OPERATORS:
            raise Refusal(f"Operator {operator} not supported.")
        if (operator, operand) == ("is", "followed"):
            raise Refusal(f"Operand {operand} not supported.")


def is_heard(narrow: Sequence[tuple[str, str]], heard: Heard) -> bool:
    """Whether a message matches all the pairs."""
    return all(_holds(ALIASES.get(operator, operator), operand, heard) for operator, operand in narrow)


def _holds(operator: str, operand: str, heard: Heard) -> bool:
    wanted = operand.strip().lower()
    if operator == "channel":
        return heard.channel is not None and heard.channel.lower() == wanted
    if operator == "topic":
        shown = heard.topic or heard.empty_topic
        return heard.channel is not None and wanted in (heard.topic.lower(), shown.lower())
    if operator == "sender":
        return heard.sender_email.lower() == wanted
    return _is(operand, heard)


def _is(operand: str, heard: Heard) -> bool:
    """Whatever an event cannot tell passes."""
    if operand in ("dm", "private"):
        return heard.channel is None
    if operand == "unread":
        return "read" not in heard.flags
    if operand in ("mentioned", "alerted"):
        return not _MENTIONS.isdisjoint(heard.flags)
    if operand == "resolved":
        return heard.channel is not None and heard.topic.startswith(RESOLVED_PREFIX)
    return operand != "starred"
