"""What clients see of reminders."""

from typing import Literal

from tertulia.events.wire import Event
from tertulia.messaging.reminders.model import ReminderRecord


class RemindersAddEvent(Event, frozen=True, kw_only=True):
    """You set a reminder."""

    type: Literal["reminders"]
    op: Literal["add"]
    reminders: list[ReminderRecord]


class RemindersRemoveEvent(Event, frozen=True, kw_only=True):
    """A reminder was delivered, or you deleted it."""

    type: Literal["reminders"]
    op: Literal["remove"]
    reminder_id: int


KEYS = {
    "reminders": list[ReminderRecord],
}
