"""Reminders: as they are kept, shown and said."""

from typing import Literal

import msgspec

from tertulia.realms.limits import MAX_MESSAGE_LENGTH

LONGEST_FENCE = 50


class ReminderRecord(msgspec.Struct, frozen=True):
    """A reminder as the API shows it."""

    reminder_id: int
    type: Literal["private"]
    to: list[int]
    content: str
    rendered_content: str
    scheduled_delivery_timestamp: int
    failed: bool
    reminder_target_message_id: int


class Reminder(msgspec.Struct, frozen=True):
    """A reminder as it is stored."""

    id: int
    realm_id: int
    user_id: int
    message_id: int
    content: str
    note: str
    rendered: str
    due: int

    @property
    def record(self) -> ReminderRecord:
        """As the API shows it: a message to oneself that is still to come."""
        return ReminderRecord(
            reminder_id=self.id,
            type="private",
            to=[self.user_id],
            content=said(self.content, self.note),
            rendered_content=self.rendered,
            scheduled_delivery_timestamp=self.due,
            failed=False,
            reminder_target_message_id=self.message_id,
        )


def said(content: str, note: str) -> str:
    """What the notification bot says when the time has come; of a very long message its beginning."""
    fence = "`" * min(max(3, longest_fence(content) + 1), LONGEST_FENCE)
    quoted = "\n".join(f"> {line}" for line in note.splitlines())
    reason = "You asked to be reminded of a message" + (f", with the note:\n{quoted}" if note else ".")
    room = MAX_MESSAGE_LENGTH - len(reason) - 2 * len(fence) - len("\n\nquote\n\n")
    shown = content if len(content) <= room else content[: room - 1] + "…"
    return f"{reason}\n\n{fence}quote\n{shown}\n{fence}"


def longest_fence(content: str) -> int:
    """The longest run of backticks, so that a quote around it can have a longer one."""
    longest = run = 0
    for character in content:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest
