"""What clients see of pins."""

from typing import Literal

from msgspec import UNSET

from tertulia.events.wire import Event, Unset


class PinEvent(Event, frozen=True, kw_only=True):
    """A message was pinned (`add`) or unpinned (`remove`). Only for clients with the capability `pinned_messages`."""

    type: Literal["pin"]
    op: Literal["add", "remove"]
    message_id: int
    pinned_at: int | Unset = UNSET
    stream_id: int | Unset = UNSET
    topic: str | Unset = UNSET
    user_ids: list[int] | Unset = UNSET
    """Everybody in a direct conversation."""
