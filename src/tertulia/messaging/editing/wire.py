"""What clients see of messages that were edited, moved or deleted."""

from typing import Literal

from msgspec import UNSET

from tertulia.content.markup import TopicLink
from tertulia.events.wire import Event, Unset


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
    """Messages were deleted, or moved to where you cannot read them.

    Clients without the capability `bulk_message_deletion` get one event for each message, with `message_id`.
    """

    type: Literal["delete_message"]
    message_type: Literal["stream", "private"]
    message_ids: list[int] | Unset = UNSET
    message_id: int | Unset = UNSET
    stream_id: int | Unset = UNSET
    topic: str | Unset = UNSET
