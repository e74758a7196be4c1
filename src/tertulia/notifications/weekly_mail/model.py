"""What a digest is made of."""

from collections.abc import Sequence

import msgspec

from tertulia.notifications.missed_mail.model import Shown, Talk


class Step(msgspec.Struct, frozen=True):
    """Some people of an organization, in the order of their numbers."""

    last_id: int
    """The last one who was looked at."""
    is_last: bool
    """Nobody comes after them."""
    user_ids: Sequence[int]
    """Those of them who were away, and want to be told."""


class Busy(msgspec.Struct, frozen=True):
    """A topic in which something was said that somebody has not read."""

    topic_id: int
    people: int
    messages: int
    newest: Sequence[int]
    """Its last messages, the oldest first."""


class Entry(msgspec.Struct, frozen=True):
    """A topic as a digest shows it."""

    busy: Busy
    talk: Talk
    shown: Sequence[Shown]
