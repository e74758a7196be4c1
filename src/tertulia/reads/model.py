"""Flags and what is unread, as the statements give it."""

import msgspec

# Flags with rows in `message_mark`.
STARRED, COLLAPSED, MENTIONED, HAS_ALERT_WORD = 1, 2, 3, 4

EDITABLE_MARKS = {"starred": STARRED, "collapsed": COLLAPSED}
FIXED_FLAGS = frozenset(
    [
        "mentioned",
        "wildcard_mentioned",
        "stream_wildcard_mentioned",
        "topic_wildcard_mentioned",
        "group_mentioned",
        "has_alert_word",
        "historical",
        "force_expand",
        "force_collapse",
    ]
)
"""Flags that the API shows, or showed once, and that nobody sets for themselves."""


class Unread(msgspec.Struct, frozen=True):
    """The unread messages of a direct conversation or of a topic."""

    conversation_id: int
    participants: list[int] | None
    topic: str | None
    is_muted: bool
    """The channel or the topic is muted: the messages are listed and not counted."""
    ids: list[int]
    mentions: list[int]
    """Those of them that mention the reader, as `unread_msgs` counts it."""


class Standing(msgspec.Struct, frozen=True):
    """What a message is to a user."""

    id: int
    conversation_id: int
    is_received: bool
    belongs: bool
    """The user belongs to the conversation now."""


class Returned(msgspec.Struct, frozen=True):
    """A message that has become unread, and where it belongs."""

    id: int
    conversation_id: int
    topic: str | None
    participants: list[int] | None
    is_muted: bool
    is_mention: bool
