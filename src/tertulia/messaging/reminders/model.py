"""Reminders: as they are kept, shown and said."""

from html import escape
from typing import Literal

import msgspec

from tertulia.content.markup.writing import ChannelLink, Quotation, Text, worded, write
from tertulia.messaging.narrows.parsing_costs import may_be_dear
from tertulia.messaging.reminders.words import Words
from tertulia.organization.realms.limits import MAX_MESSAGE_LENGTH

_ROOM_FOR_FENCES = 500
"""The fences around a text that is cut are not longer than this, together."""
_OF_DEAR = 200
"""So much is quoted of a text whose words may take long to find: the reminders of others wait behind it."""


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


class Remembered(msgspec.Struct, frozen=True):
    """What somebody can read at this moment of a message they want to be reminded of."""

    content: str
    rendered: str | None
    """None where the content is only its beginning."""
    place: ChannelLink | None
    """Where it is; None in a direct conversation."""

    @property
    def html(self) -> str:
        """What is shown of it: a beginning is shown as it was typed."""
        return f"<p>{escape(self.content)}</p>" if self.rendered is None else self.rendered


class Reminder(msgspec.Struct, frozen=True):
    """A reminder as it is stored."""

    id: int
    realm_id: int
    user_id: int
    message_id: int
    note: str
    rendered_note: str
    due: int

    def shown(self, words: Words, message: Remembered | None) -> ReminderRecord:
        """As the API shows it: a message to oneself that is still to come, if nothing changes until then."""
        return ReminderRecord(
            reminder_id=self.id,
            type="private",
            to=[self.user_id],
            content=write(said(words, message, self.note)),
            rendered_content=self._html(words, message),
            scheduled_delivery_timestamp=self.due,
            failed=False,
            reminder_target_message_id=self.message_id,
        )

    def _html(self, words: Words, message: Remembered | None) -> str:
        """The note as it was rendered for its author, the message as it was rendered for its readers."""
        opening = escape(words.asked if message else words.gone)
        quoted = [self.rendered_note, *([message.html] if message else [])]
        return "\n".join([f"<p>{opening}</p>", *(f"<blockquote>\n{html}\n</blockquote>" for html in quoted if html)])


def said(words: Words, message: Remembered | None, note: str) -> Text:
    """What the notification bot says when the time has come; of a very long message its beginning."""
    noted: Text = (" ", words.note, Quotation(note)) if note else ()
    if message is None:
        return (words.gone, *noted)
    asked = (words.asked,) if message.place is None else worded(words.asked_in, place=message.place)
    opening: Text = (*asked, *noted)
    room = MAX_MESSAGE_LENGTH - len(write(opening)) - _ROOM_FOR_FENCES
    if may_be_dear(message.html):
        room = _OF_DEAR
    return (*opening, *(() if noted else (" ",)), words.message, Quotation(_beginning(message.content, room)))


def _beginning(content: str, room: int) -> str:
    return content if len(content) <= room else content[: room - 1] + "…"
