"""What clients see of scheduled messages."""

from typing import Literal

from tertulia.events.wire import Event
from tertulia.messaging.scheduled.model import ScheduledRecord


class ScheduledMessagesAddEvent(Event, frozen=True, kw_only=True):
    """You scheduled messages."""

    type: Literal["scheduled_messages"]
    op: Literal["add"]
    scheduled_messages: list[ScheduledRecord]


class ScheduledMessagesUpdateEvent(Event, frozen=True, kw_only=True):
    """A scheduled message changed."""

    type: Literal["scheduled_messages"]
    op: Literal["update"]
    scheduled_message: ScheduledRecord


class ScheduledMessagesRemoveEvent(Event, frozen=True, kw_only=True):
    """A scheduled message was sent, or you deleted it."""

    type: Literal["scheduled_messages"]
    op: Literal["remove"]
    scheduled_message_id: int


KEYS = {
    "scheduled_messages": list[ScheduledRecord],
}
