"""Events that may name the empty topic: clients that cannot show it are given the name the realm has for it.

Such an event carries that name in the log, under a key that is never sent, and only if the empty topic is in it.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import Any

import msgspec

from tertulia.events.queues.logged_event import Listener, LoggedEvent

EMPTY_TOPIC = "empty_topic"
"""The key of the log's event."""

_MARK = f'"{EMPTY_TOPIC}":'.encode()  # quotes inside a text are escaped: this is a key and nothing else
_decoder = msgspec.json.Decoder(dict[str, Any])
_encode = msgspec.json.Encoder().encode


class EmptyTopicPresenter(ABC):
    """Shows them in two forms."""

    @abstractmethod
    def name_topics(self, event: dict[str, Any], shown: str) -> None:
        """Put the name wherever the event has the empty topic."""

    def variant(self, _logged: LoggedEvent, listener: Listener) -> Hashable:
        """What makes the texts of two listeners differ."""
        return listener.options.understands("empty_topic_name")

    def present(self, logged: LoggedEvent, listener: Listener) -> bytes:
        """The event's keys."""
        stored = bytes(logged.record.event)
        if _MARK not in stored:
            return stored[1:-1]
        event = _decoder.decode(stored)
        shown = event.pop(EMPTY_TOPIC)
        if not listener.options.understands("empty_topic_name"):
            self.name_topics(event, shown)
        return _encode(event)[1:-1]
