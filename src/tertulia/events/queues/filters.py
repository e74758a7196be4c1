"""Filters: a feature decides which of its events a queue with a narrow takes, from the event alone."""

from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec

from tertulia.events.queues.logged_event import Listener, LoggedEvent
from tertulia.events.queues.options import QueueOptions


class Filter(Protocol):
    """How a feature understands the narrow of an event queue."""

    def check(self, narrow: Sequence[tuple[str, str]]) -> None:
        """Refuse a narrow that queues cannot have."""
        ...

    def read(self, narrow: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """The same narrow, ready to be decided; what was read already stays as it is. Refuses nothing."""
        ...

    def passes(self, logged: LoggedEvent, listener: Listener) -> bool:
        """Whether an event that the listener hears matches the narrow of its queue. Asks nobody: it is called for each."""
        ...


def with_read_narrow(options: QueueOptions, filters: Iterable[Filter]) -> QueueOptions:
    """What a queue is asked, with its narrow read: once, and not again for each event."""
    narrow = options.narrow
    for each in filters:
        narrow = each.read(narrow)
    return msgspec.structs.replace(options, narrow=narrow)
