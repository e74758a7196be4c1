"""What is unread, and what messages are to a user, as the statements give it."""

import msgspec


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
    places: int
    """How many conversations and topics have unread messages, with those that are not listed."""


class MessageStanding(msgspec.Struct, frozen=True):
    """What a message is to a user."""

    id: int
    conversation_id: int
    is_received: bool
    belongs: bool
    """The user belongs to the conversation now."""


class UnreadAgain(msgspec.Struct, frozen=True):
    """A message that has become unread, and where it belongs."""

    id: int
    conversation_id: int
    topic: str | None
    participants: list[int] | None
    is_muted: bool
    is_mention: bool
