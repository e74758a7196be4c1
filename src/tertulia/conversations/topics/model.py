"""Topics and policies: what the rules need, and what the API shows."""

import msgspec


class Topic(msgspec.Struct, frozen=True):
    """A topic of a channel."""

    id: int
    channel_id: int
    name: str


class Decided(msgspec.Struct, frozen=True):
    """A policy that has just changed."""

    user_id: int
    old: int
    new: int
    updated_at: int


class UserTopic(msgspec.Struct, frozen=True):
    """A policy as the API shows it."""

    stream_id: int
    topic_name: str
    last_updated: int
    visibility_policy: int


class MutedList(msgspec.Struct, frozen=True):
    """All topics that somebody mutes, as older clients want them."""

    user_id: int
    topics: str
    """JSON."""
    has_empty: bool
    """The topic without a name is among them."""


MutedTopic = tuple[str, str, int]
"""The channel's name, the topic, and since when: the older form of a muted topic."""
