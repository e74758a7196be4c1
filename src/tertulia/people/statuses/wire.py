"""What clients see of statuses."""

from typing import Literal

import msgspec
from msgspec import UNSET

from tertulia.events.wire import Event, Unset


class UserStatusEvent(Event, frozen=True, kw_only=True):
    """Somebody changed their status. Only what changed is given; an empty text means that it was cleared."""

    type: Literal["user_status"]
    user_id: int
    away: bool | Unset = UNSET
    status_text: str | Unset = UNSET
    emoji_name: str | Unset = UNSET
    emoji_code: str | Unset = UNSET
    reaction_type: str | Unset = UNSET


class ShownStatus(msgspec.Struct, frozen=True, kw_only=True):
    """A status. Only what is set is given."""

    away: bool | Unset = UNSET
    status_text: str | Unset = UNSET
    emoji_name: str | Unset = UNSET
    emoji_code: str | Unset = UNSET
    reaction_type: str | Unset = UNSET


KEYS = {
    "user_status": dict[str, ShownStatus],
}
