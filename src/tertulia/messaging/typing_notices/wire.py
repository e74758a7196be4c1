"""What clients see of people who are typing."""

from typing import Literal

import msgspec
from msgspec import UNSET

from tertulia.events.wire import Event, Unset


class Typist(msgspec.Struct, frozen=True):
    """Somebody who types a message, or who is to get it."""

    user_id: int
    email: str


class TypingEvent(Event, frozen=True, kw_only=True):
    """Somebody started or stopped typing a message."""

    type: Literal["typing"]
    op: Literal["start", "stop"]
    message_type: Literal["stream", "direct"]
    sender: Typist
    recipients: list[Typist] | Unset = UNSET
    stream_id: int | Unset = UNSET
    topic: str | Unset = UNSET


class EditedPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where the message is that somebody edits."""

    type: Literal["channel", "direct"]
    channel_id: int | Unset = UNSET
    topic: str | Unset = UNSET
    user_ids: list[int] | Unset = UNSET


class TypingEditMessageEvent(Event, frozen=True, kw_only=True):
    """Somebody started or stopped editing a message."""

    type: Literal["typing_edit_message"]
    op: Literal["start", "stop"]
    sender_id: int
    message_id: int
    recipient: EditedPlace
