"""What clients see of widgets in messages."""

from typing import Literal

from tertulia.events.wire import Event


class SubmessageEvent(Event, frozen=True, kw_only=True):
    """Somebody did something in a widget, such as voting in a poll."""

    type: Literal["submessage"]
    message_id: int
    submessage_id: int
    sender_id: int
    msg_type: str
    content: str
