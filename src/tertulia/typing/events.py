"""How typing looks to those who are told of it: the empty topic has a name for clients that cannot show it."""

from collections.abc import Hashable
from typing import Any

import msgspec

from tertulia.events.logged import Listener, Logged

EMPTY_TOPIC = "empty_topic"
"""A key of the log's event, never sent: how the realm names the empty topic. There only if that is the topic."""

_MARK = f'"{EMPTY_TOPIC}":'.encode()  # quotes inside a text are escaped: this is a key and nothing else
_decoder = msgspec.json.Decoder(dict[str, Any])
_encode = msgspec.json.Encoder().encode


class TypingPresenter:
    """Shows `typing` events."""

    def variant(self, _logged: Logged, listener: Listener) -> Hashable:
        """What makes the texts of two listeners differ."""
        return listener.options.capabilities.empty_topic_name

    def present(self, logged: Logged, listener: Listener) -> bytes:
        """The event's keys."""
        stored = bytes(logged.record.event)
        if _MARK not in stored:
            return stored[1:-1]
        event = _decoder.decode(stored)
        shown = event.pop(EMPTY_TOPIC)
        if not listener.options.capabilities.empty_topic_name:
            event["topic"] = shown
        return _encode(event)[1:-1]
