"""What is known of a message and a person, and what is decided."""

from datetime import datetime
from typing import Literal

import msgspec

Trigger = Literal[
    "direct_message",
    "mentioned",
    "topic_wildcard_mentioned",
    "stream_wildcard_mentioned",
    "followed_topic",
    "stream_push",
    "stream_email",
]
"""Why somebody is told. The words are those of the payload of a push."""


class Facts(msgspec.Struct, frozen=True):
    """What is known of one message and one person, who is neither its sender nor a bot nor deactivated."""

    message_id: int
    user_id: int
    is_unread: bool
    """They received it, may read it still, and have not."""
    is_sender_muted: bool
    is_direct: bool
    is_named: bool
    in_group: bool
    """It mentions a group of theirs."""
    wildcard: int
    """Whom it mentions all at once (`Wildcard`)."""
    takes_part: bool
    """They wrote or reacted in its topic."""
    policy: int
    """What they decided about the topic (`TopicPolicy`)."""
    is_channel_muted: bool
    push_notifications: bool | None
    """Of the subscription, as the next two; None: as in general."""
    email_notifications: bool | None
    wildcard_mentions_notify: bool | None
    active_seconds: float | None
    """How long ago they did something; None: never."""
    timezone: str
    now: datetime
    """When this is decided."""
    settings: str
    """Theirs, as they are stored."""


class Decision(msgspec.Struct, frozen=True):
    """Why somebody is told, by each way; None: they are not."""

    push: Trigger | None
    mail: Trigger | None
    is_quiet: bool
    """They do not want to hear anything now. They get no push; a mail waits until they do."""
    is_active: bool
    """They seem to be there. They get no push; whether they get a mail shows when they have been gone for a while."""
