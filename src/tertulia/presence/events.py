"""How a return looks to the clients that are told of it: in the form they asked for."""

from collections.abc import Hashable

import msgspec

from tertulia.events.logged import Listener, Logged
from tertulia.kernel.settings import Settings
from tertulia.presence.model import CLIENT, Presence, legacy, modern
from tertulia.users.addresses import fake_domain

_encode = msgspec.json.Encoder().encode


class Back(msgspec.Struct, frozen=True):
    """The log's event: somebody is back, or comes into sight."""

    email: str
    """Made up and written without its domain, it ends with the @."""
    server_timestamp: float
    presence: Presence
    subdomain: str = ""
    """Where the realm is, if that may be needed."""


_decoder = msgspec.json.Decoder(Back)


class PresencePresenter:
    """Shows `presence` events."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

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
            is_whole = not back.email.endswith("@")
            event["email"] = back.email if is_whole else back.email + fake_domain(self._settings, back.subdomain)
        return _encode(event)[1:-1]
