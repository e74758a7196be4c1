"""What a message is to its reader (pure): the numbers that the database stores about it, by name, and the flags they make.

This is the one home of these numbers: no other module spells them, in Python or in SQL (tests/rules/test_one_home.py).
The same questions as SQL, for statements that ask them of many messages or readers, are in statements.py.
"""

from collections.abc import Sequence
from enum import IntEnum, IntFlag
from typing import Literal

import msgspec


class Mark(IntEnum):
    """A flag of one reader's on one message: a row of `message_mark`."""

    STARRED = 1
    COLLAPSED = 2
    MENTIONED = 3
    """By name: groups and wildcards are not stored for each reader."""
    HAS_ALERT_WORD = 4


class Wildcard(IntFlag):
    """Whom a message mentions all at once: `message.wildcard`."""

    CHANNEL = 1
    TOPIC = 2
    """All who take part in the topic; in a direct conversation, which has no topic, everybody does."""


class Facts(IntFlag):
    """What rendering a text has found in it; stored as `message.wildcard` and the columns `has_link` and so on."""

    CHANNEL_WILDCARD = Wildcard.CHANNEL
    TOPIC_WILDCARD = Wildcard.TOPIC
    LINK = 4
    IMAGE = 8
    ATTACHMENT = 16


WILDCARDS = int(Wildcard.CHANNEL | Wildcard.TOPIC)
"""Those of the facts that are stored as `message.wildcard`. A plain number: a member of the enum costs more to combine."""


class TopicPolicy(IntEnum):
    """What somebody decided about a topic; NONE: as the channel."""

    NONE = 0
    MUTED = 1
    UNMUTED = 2
    FOLLOWED = 3


TopicPolicyNumber = Literal[0, 1, 2, 3]
"""A policy as a parameter or in an event: the values of `TopicPolicy`."""

EDITABLE_MARKS = {"starred": Mark.STARRED, "collapsed": Mark.COLLAPSED}
"""Marks that people set for themselves, by the name of the flag; on what they never received, too."""
MENTION_FLAGS = frozenset(["mentioned", "stream_wildcard_mentioned", "topic_wildcard_mentioned", "group_mentioned"])
FIXED_FLAGS = MENTION_FLAGS | {
    "wildcard_mentioned",
    "has_alert_word",
    "historical",
    "force_expand",
    "force_collapse",
}
"""Flags that the API shows, or showed once, and that nobody sets for themselves."""

_OWN_NAMES: dict[int, str] = {mark: name for name, mark in EDITABLE_MARKS.items()}
# As plain numbers: flags are made for every listener of a message, and members of an enum cost more to look up and combine.
_MENTIONED, _HAS_ALERT_WORD = int(Mark.MENTIONED), int(Mark.HAS_ALERT_WORD)
_CHANNEL, _TOPIC = int(Wildcard.CHANNEL), int(Wildcard.TOPIC)


class Concern(msgspec.Struct, frozen=True):
    """What is known of one message and one reader."""

    is_received: bool
    is_read: bool | None
    """None: nothing is stored, as of what was never received."""
    marks: Sequence[int] = ()
    """Of the reader, ascending."""
    in_group: bool = False
    """The message mentions a group that the reader is in."""
    wildcard: int = 0
    takes_part: bool = False
    """In the topic of the message, or there is none."""


def flags_for(concern: Concern) -> list[str]:
    """The reader's flags on a message. What they never received is history to them: read, and mentioning nobody."""
    flags = ["read"] if concern.is_read or not concern.is_received else []
    if not concern.is_received:
        flags.append("historical")
    marks = concern.marks
    if marks:
        flags += [_OWN_NAMES[mark] for mark in marks if mark in _OWN_NAMES]
    if not concern.is_received:
        return flags
    if concern.in_group or (marks and _MENTIONED in marks):
        flags.append("mentioned")
    if concern.wildcard:
        flags += _wildcards(concern)
    if concern.in_group:
        flags.append("group_mentioned")
    if marks and _HAS_ALERT_WORD in marks:
        flags.append("has_alert_word")
    return flags


def _wildcards(concern: Concern) -> list[str]:
    flags = []
    if concern.wildcard & _CHANNEL:
        flags.append("stream_wildcard_mentioned")
    if concern.takes_part and concern.wildcard & _TOPIC:
        flags.append("topic_wildcard_mentioned")
    return [*flags, "wildcard_mentioned"] if flags else []
