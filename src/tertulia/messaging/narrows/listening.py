"""Narrows of event queues (pure): pairs of texts, decided from the message event alone (contract: narrow.md 7).

A narrow is read once, when its queue is made: what stays are a few pairs of each kind, so that a message costs each queue a
few comparisons, whatever its client wrote.
"""

from collections import Counter
from collections.abc import Collection, Sequence

import msgspec

from tertulia.conversations.read_state.marks import MENTION_FLAGS
from tertulia.kernel.errors import Refusal
from tertulia.messaging.narrows.conditions import RESOLVED_PREFIX
from tertulia.messaging.narrows.terms import ALIASES

Pair = tuple[str, str]
_OPERATORS = frozenset(["channel", "topic", "sender", "is"])
_KINDS = {"dm": "dm", "private": "dm", "unread": "unread", "mentioned": "mentioned", "alerted": "mentioned"}
_KINDS |= {"resolved": "resolved", "starred": "starred"}
_NOTHING: tuple[Pair, ...] = (("is", "starred"),)
"""A message that was just sent has no star."""
_EVERYTHING: Pair = ("is", "")
_NAMES_OF_A_TOPIC = 2
"""The empty topic has the name that the realm shows, too."""


class HeardMessage(msgspec.Struct, frozen=True):
    """What a narrow can ask about a message that was just sent, in small letters."""

    channel: str | None
    """The name of its channel; None: a direct message."""
    topics: tuple[str, ...]
    """The name of its topic; and how the realm names the empty topic, if it is that."""
    is_resolved: bool
    sender_email: str

    @classmethod
    def of(cls, channel: str | None, topic: str, sender_email: str, empty_topic: str = "") -> "HeardMessage":
        """As it was written."""
        topics = (topic.lower(),) if topic else ("", empty_topic.lower())
        is_resolved = channel is not None and topic.startswith(RESOLVED_PREFIX)
        return cls(channel.lower() if channel is not None else None, topics, is_resolved, sender_email.lower())


def check_pairs(narrow: Sequence[Pair]) -> None:
    """Refuse what cannot be decided from a message event."""
    for operator, operand in narrow:
        if ALIASES.get(operator, operator) not in _OPERATORS:
            raise Refusal(f"Operator {operator} not supported.")
        if (operator, operand) == ("is", "followed"):
            raise Refusal(f"Operand {operand} not supported.")


def plain_pairs(narrow: Sequence[Pair]) -> tuple[Pair, ...]:
    """The same narrow in as few pairs as it needs, ready to be compared; what was read so already stays as it is."""
    pairs = list(dict.fromkeys(_plain(ALIASES.get(operator, operator), operand) for operator, operand in narrow))
    kinds = Counter(operator for operator, _ in pairs)
    if kinds["channel"] > 1 or kinds["sender"] > 1 or kinds["topic"] > _NAMES_OF_A_TOPIC:
        return _NOTHING
    if len(pairs) > 1 and _EVERYTHING in pairs:
        pairs.remove(_EVERYTHING)
    return tuple(pairs)


def is_heard(narrow: Sequence[Pair], heard: HeardMessage, flags: Collection[str]) -> bool:
    """Whether a message, which has these flags for the listener, matches all of the plain pairs."""
    return all(_holds(operator, operand, heard, flags) for operator, operand in narrow)


def _plain(operator: str, operand: str) -> Pair:
    """Whatever an event cannot tell passes."""
    if operator == "is":
        return operator, _KINDS.get(operand, "")
    return operator, operand.strip().lower()


def _holds(operator: str, wanted: str, heard: HeardMessage, flags: Collection[str]) -> bool:
    if operator == "channel":
        return heard.channel == wanted
    if operator == "topic":
        return heard.channel is not None and wanted in heard.topics
    if operator == "sender":
        return heard.sender_email == wanted
    if wanted == "dm":
        return heard.channel is None
    if wanted == "unread":
        return "read" not in flags
    if wanted == "mentioned":
        return not MENTION_FLAGS.isdisjoint(flags)
    if wanted == "resolved":
        return heard.is_resolved
    return wanted != "starred"
