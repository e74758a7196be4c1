"""How a return looks to the clients that are told of it: in the form they asked for."""

from collections.abc import Hashable

import msgspec

from tertulia.events.logged import Listener, Logged
from tertulia.presence.model import CLIENT, Presence, legacy, modern

_encode = msgspec.json.Encoder().encode


class Back(msgspec.Struct, frozen=True):
    """The log's event: somebody is back."""

    email: str
    server_timestamp: float
    presence: Presence


_decoder = msgspec.json.Decoder(Back)


class PresencePresenter:
    """Shows `presence` events."""

    def variant(self, _logged: Logged, listener: Listener) -> Hashable:
        """What makes the texts of two listeners differ."""
        return listener.options.capabilities.simplified_presence_events, listener.options.slim_presence

    def present(self, logged: Logged, listener: Listener) -> bytes:
        """The event's keys."""
        back = _decoder.decode(logged.record.event)
        user_id = back.presence.user_id
        if listener.options.capabilities.simplified_presence_events:
            return _encode({"presences": {str(user_id): modern(back.presence)}})[1:-1]
        event: dict[str, object] = {
            "user_id": user_id,
            "server_timestamp": back.server_timestamp,
            "presence": {CLIENT: legacy(back.presence)[CLIENT]},
        }
        if not listener.options.slim_presence:
            event["email"] = back.email
        return _encode(event)[1:-1]
