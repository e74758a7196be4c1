"""Events of messages, and of what people do with them."""

from typing import Literal

import msgspec
from msgspec import UNSET

from tertulia.catalogue.base import Event, Unset
from tertulia.markup import TopicLink
from tertulia.messages.model import MessageRecord

Kind = Literal["stream", "private"]


class MessageEvent(Event, frozen=True, kw_only=True):
    """Somebody said something. `local_id` comes back to the queue that sent it."""

    type: Literal["message"]
    message: MessageRecord
    flags: list[str]
    local_id: str | Unset = UNSET
    local_message_id: str | Unset = UNSET


class UpdateMessageEvent(Event, frozen=True, kw_only=True):
    """Messages changed: their text, their topic, their channel, or how they look."""

    type: Literal["update_message"]
    user_id: int | None
    rendering_only: bool
    message_id: int
    message_ids: list[int]
    flags: list[str]
    edit_timestamp: int
    stream_id: int | Unset = UNSET
    stream_name: str | Unset = UNSET
    orig_content: str | Unset = UNSET
    orig_rendered_content: str | Unset = UNSET
    content: str | Unset = UNSET
    rendered_content: str | Unset = UNSET
    is_me_message: bool | Unset = UNSET
    propagate_mode: Literal["change_one", "change_later", "change_all"] | Unset = UNSET
    orig_subject: str | Unset = UNSET
    subject: str | Unset = UNSET
    topic_links: list[TopicLink] | Unset = UNSET
    new_stream_id: int | Unset = UNSET


class DeleteMessageEvent(Event, frozen=True, kw_only=True):
    """Messages are gone. Without `bulk_message_deletion` each has an event of its own."""

    type: Literal["delete_message"]
    message_type: Kind
    message_ids: list[int] | Unset = UNSET
    message_id: int | Unset = UNSET
    stream_id: int | Unset = UNSET
    topic: str | Unset = UNSET


class UnreadDetails(msgspec.Struct, frozen=True, kw_only=True):
    """Where a message belongs that is unread again."""

    type: Kind
    mentioned: bool | Unset = UNSET
    user_ids: list[int] | Unset = UNSET
    stream_id: int | Unset = UNSET
    topic: str | Unset = UNSET
    unmuted_stream_msg: bool | Unset = UNSET


class UpdateMessageFlagsEvent(Event, frozen=True, kw_only=True):
    """One's own flags changed. `all`: every message there was."""

    type: Literal["update_message_flags"]
    op: Literal["add", "remove"]
    flag: str
    messages: list[int]
    all: bool
    operation: Literal["add", "remove"] | Unset = UNSET
    message_details: dict[str, UnreadDetails] | Unset = UNSET


class ReactingUser(msgspec.Struct, frozen=True):
    """Who reacted, in the older form."""

    user_id: int
    email: str
    full_name: str


class ReactionEvent(Event, frozen=True, kw_only=True):
    """A reaction came or went."""

    type: Literal["reaction"]
    op: Literal["add", "remove"]
    message_id: int
    user_id: int
    emoji_name: str
    emoji_code: str
    reaction_type: str
    user: ReactingUser | Unset = UNSET


class SubmessageEvent(Event, frozen=True, kw_only=True):
    """Somebody did something with a widget."""

    type: Literal["submessage"]
    message_id: int
    submessage_id: int
    sender_id: int
    msg_type: str
    content: str


class Typist(msgspec.Struct, frozen=True):
    """Who writes, or is written to."""

    user_id: int
    email: str


class TypingEvent(Event, frozen=True, kw_only=True):
    """Somebody writes, or has stopped."""

    type: Literal["typing"]
    op: Literal["start", "stop"]
    message_type: Literal["stream", "direct"]
    sender: Typist
    recipients: list[Typist] | Unset = UNSET
    stream_id: int | Unset = UNSET
    topic: str | Unset = UNSET


class EditedPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where the message is that somebody changes."""

    type: Literal["channel", "direct"]
    channel_id: int | Unset = UNSET
    topic: str | Unset = UNSET
    user_ids: list[int] | Unset = UNSET


class TypingEditMessageEvent(Event, frozen=True, kw_only=True):
    """Somebody changes a message, or has stopped."""

    type: Literal["typing_edit_message"]
    op: Literal["start", "stop"]
    sender_id: int
    message_id: int
    recipient: EditedPlace
