"""What clients see of new messages."""

from typing import Literal

from msgspec import UNSET

from tertulia.events.wire import Event, Unset
from tertulia.messaging.reading.model import MessageRecord


class MessageEvent(Event, frozen=True, kw_only=True):
    """A new message. `local_id` is what its sender passed, and is given to the sender's own queue only."""

    type: Literal["message"]
    message: MessageRecord
    flags: list[str]
    local_id: str | Unset = UNSET
    local_message_id: str | Unset = UNSET
