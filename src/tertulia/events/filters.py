"""Filters: a feature decides which of its events a queue with a narrow takes, from the event alone."""

from collections.abc import Sequence
from typing import Protocol

from tertulia.events.logged import Listener, Logged


class Filter(Protocol):
    """How a feature understands the narrow of an event queue."""

    def check(self, narrow: Sequence[tuple[str, str]]) -> None:
        """Refuse a narrow that queues cannot have."""
        ...

    def passes(self, logged: Logged, listener: Listener) -> bool:
        """Whether an event that the listener hears matches the narrow of its queue. Asks nobody: it is called for each."""
        ...
