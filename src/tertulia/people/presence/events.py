"""How a return looks to the clients that are told of it: in the form they asked for."""

from collections.abc import Hashable

import msgspec

from tertulia.events.queues.logged_event import Listener, LoggedEvent
from tertulia.kernel.settings import Settings
from tertulia.people.presence.model import CLIENT, Presence, legacy, modern
from tertulia.people.users.addresses import fake_domain

_encode = msgspec.json.Encoder().encode


class PresenceChanged(msgspec.Struct, frozen=True):
    """The log's event: somebody is back, or becomes visible."""

    email: str
    """Made up and written without its domain, it ends with the @."""
    server_timestamp: float
    presence: Presence
    subdomain: str = ""
    """Where the realm is, if that may be needed."""


_decoder = msgspec.json.Decoder(PresenceChanged)


class PresencePresenter:
    """Shows `presence` events."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def variant(self, _logged: LoggedEvent, listener: Listener) -> Hashable:
        """What makes the texts of two listeners differ."""
        options = listener.options
        return options.understands("simplified_presence_events"), options.understands("slim_presence")

    def present(self, logged: LoggedEvent, listener: Listener) -> bytes:
        """The event's keys."""
        back = _decoder.decode(logged.record.event)
        user_id = back.presence.user_id
        if listener.options.understands("simplified_presence_events"):
            return _encode({"presences": {str(user_id): modern(back.presence)}})[1:-1]
        event: dict[str, object] = {
            "user_id": user_id,
            "server_timestamp": back.server_timestamp,
            "presence": {CLIENT: legacy(back.presence)[CLIENT]},
        }
        if not listener.options.understands("slim_presence"):
            is_whole = not back.email.endswith("@")
            event["email"] = back.email if is_whole else back.email + fake_domain(self._settings, back.subdomain)
        return _encode(event)[1:-1]
