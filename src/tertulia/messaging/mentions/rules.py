"""Pure decisions about mentions: who may mention many people at once."""

import msgspec

from tertulia.kernel.errors import Refusal

MAX_LISTED = 20_000
"""Of how many people at most an event says that it concerns them: the log takes no event of any size."""

MANY = 15
"""More subscribers or participants than this may be mentioned together only by those who may mention many."""


class Crowd(msgspec.Struct, frozen=True):
    """How many a wildcard would mention, and whether the sender may mention many."""

    subscribers: int
    participants: int
    may_mention_many: bool


def check_crowd(crowd: Crowd, *, channel: bool, topic: bool) -> None:
    """Refuse to mention many people together to those who may not."""
    if crowd.may_mention_many:
        return
    if channel and crowd.subscribers > MANY:
        raise Refusal(
            "You don't have the permission to mention everybody in this channel.",
            code="STREAM_WILDCARD_MENTION_NOT_ALLOWED",
        )
    if topic and crowd.participants > MANY:
        raise Refusal(
            "You don't have the permission to mention everybody in this topic.",
            code="TOPIC_WILDCARD_MENTION_NOT_ALLOWED",
        )


def group_not_mentionable(name: str) -> Refusal:
    """The refusal to mention a group."""
    return Refusal(f"You don't have the permission to mention the user group '{name}'.")
