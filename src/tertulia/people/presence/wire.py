"""What clients see of presence."""

from typing import Literal

import msgspec
from msgspec import UNSET

from tertulia.events.wire import Event, Unset
from tertulia.people.presence.model import Timestamps


class OldPresence(msgspec.Struct, frozen=True, kw_only=True):
    """A presence in the older form."""

    client: str
    status: Literal["active", "idle", "offline"]
    timestamp: int
    pushable: bool | Unset = UNSET


class PresenceEvent(Event, frozen=True, kw_only=True):
    """Somebody came back online, or became visible to you.

    Clients with the capability `simplified_presence_events` get `presences`, others the other keys.
    """

    type: Literal["presence"]
    presences: dict[str, Timestamps] | Unset = UNSET
    user_id: int | Unset = UNSET
    email: str | Unset = UNSET
    server_timestamp: float | Unset = UNSET
    presence: dict[str, OldPresence] | Unset = UNSET


KEYS = {
    # With slim_presence the timestamps by name, else presences by client
    "presences": dict[str, dict[str, int | OldPresence]],
    "presence_last_update_id": int,
    "server_timestamp": float,
}
