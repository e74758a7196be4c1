"""How a changed status looks to those who hear of it."""

from collections.abc import Hashable
from typing import Any

import msgspec

from tertulia.events.queues.logged_event import Listener, LoggedEvent
from tertulia.kernel.compat import emoji_type_for
from tertulia.organization.custom_emoji.model import EXTRA

_MARK = f'"reaction_type":"{EXTRA}"'.encode()  # quotes inside a text are escaped: this is a key and its value
_decoder = msgspec.json.Decoder(dict[str, Any])
_encode = msgspec.json.Encoder().encode


class StatusPresenter:
    """Shows `user_status` events."""

    def variant(self, _logged: LoggedEvent, listener: Listener) -> Hashable:
        """What makes the texts of two listeners differ."""
        return emoji_type_for(EXTRA, listener.options.client)

    def present(self, logged: LoggedEvent, listener: Listener) -> bytes:
        """The event's keys."""
        stored = bytes(logged.record.event)
        if _MARK not in stored:
            return stored[1:-1]
        event = _decoder.decode(stored)
        event["reaction_type"] = emoji_type_for(EXTRA, listener.options.client)
        return _encode(event)[1:-1]
