"""Presence: what is stored, and the two forms in which it is shown."""

import time
from typing import Any, Literal, NamedTuple

import msgspec

from tertulia.organization.realms.limits import PRESENCE_OFFLINE_SECONDS

CLIENT = "website"
"""The one client there is in the old form, which told them apart."""
ACTIVE_MARGIN_SECONDS = 70
"""Whoever was active so shortly before their last ping counts as active in the older form."""
NEVER = -1
"""The number of a client that knows of no change."""
Status = Literal["active", "idle", "offline"]


class Ping(NamedTuple):
    """A presence ping of somebody."""

    realm_id: int
    user_id: int
    is_active: bool
    domain: str
    """Where the realm's made-up addresses seem to be."""


class CameBack(msgspec.Struct, frozen=True):
    """Somebody who was away and is back."""

    realm_id: int
    user_id: int
    email: str
    active_at: int
    connected_at: int


class Presence(msgspec.Struct, frozen=True):
    """When somebody was there; UNIX seconds, 0: never."""

    user_id: int
    active_at: int
    connected_at: int

    @property
    def status(self) -> Status:
        """In the words of the old form."""
        return "active" if self.active_at and self.active_at + ACTIVE_MARGIN_SECONDS >= self.connected_at else "idle"


class Timestamps(msgspec.Struct, frozen=True, omit_defaults=True):
    """A presence in the modern form."""

    active_timestamp: int | msgspec.UnsetType = msgspec.UNSET
    idle_timestamp: int | msgspec.UnsetType = msgspec.UNSET


def modern(presence: Presence) -> Timestamps:
    """Two moments; a client concludes from them."""
    return Timestamps(
        active_timestamp=presence.active_at or msgspec.UNSET, idle_timestamp=presence.connected_at or msgspec.UNSET
    )


def legacy(presence: Presence) -> dict[str, dict[str, Any]]:
    """One status for each client, of which there is one, and one for all."""
    status = presence.status
    at = presence.active_at if status == "active" else presence.connected_at
    shown = {"client": CLIENT, "status": status, "timestamp": at}
    return {"aggregated": shown, CLIENT: {**shown, "pushable": False}}


def nobody_is_shown(known: int) -> dict[str, Any]:
    """The answer where nobody's presence may be seen."""
    return {"presences": {}, "server_timestamp": time.time(), "presence_last_update_id": known}


def of_one(presence: Presence, now: float) -> dict[str, Any]:
    """The presence of one person in both forms; whoever was not heard of for a while is offline."""
    shown: dict[str, Any] = legacy(presence)
    if now - presence.connected_at > PRESENCE_OFFLINE_SECONDS:
        shown["aggregated"] = {**shown["aggregated"], "status": "offline"}
    both: dict[str, Any] = shown | msgspec.to_builtins(modern(presence))
    return both
