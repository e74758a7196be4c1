"""Messages as the API shows them."""

from typing import Literal

import msgspec

from tertulia.content.markup import TopicLink


class Participant(msgspec.Struct, frozen=True):
    """A participant of a direct conversation, as `display_recipient` lists them."""

    id: int
    email: str
    full_name: str
    is_mirror_dummy: bool = False


class EditEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An entry of `edit_history`."""

    user_id: int | None
    timestamp: int
    prev_content: str | msgspec.UnsetType = msgspec.UNSET
    prev_rendered_content: str | msgspec.UnsetType = msgspec.UNSET
    prev_topic: str | msgspec.UnsetType = msgspec.UNSET
    topic: str | msgspec.UnsetType = msgspec.UNSET
    prev_stream: int | msgspec.UnsetType = msgspec.UNSET
    stream: int | msgspec.UnsetType = msgspec.UNSET


class ReactionRecord(msgspec.Struct, frozen=True):
    """A reaction, as messages show it."""

    emoji_name: str
    emoji_code: str
    reaction_type: str
    user_id: int


class SubmessageRecord(msgspec.Struct, frozen=True):
    """What people did with a widget."""

    id: int
    message_id: int
    sender_id: int
    msg_type: str
    content: str


class MessageRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A message as the API shows it."""

    id: int
    sender_id: int
    sender_full_name: str
    sender_email: str
    sender_realm_str: str
    avatar_url: str | None
    client: str
    content: str
    content_type: str
    type: Literal["stream", "private"]
    stream_id: int | msgspec.UnsetType = msgspec.UNSET
    display_recipient: str | tuple[Participant, ...]
    recipient_id: int
    subject: str
    topic_links: tuple[TopicLink, ...] = ()
    timestamp: int
    is_me_message: bool
    reactions: tuple[ReactionRecord, ...] = ()
    submessages: tuple[SubmessageRecord, ...] = ()
    last_edit_timestamp: int | msgspec.UnsetType = msgspec.UNSET
    last_moved_timestamp: int | msgspec.UnsetType = msgspec.UNSET
    edit_history: list[EditEntry] | msgspec.UnsetType = msgspec.UNSET
    flags: list[str] | msgspec.UnsetType = msgspec.UNSET
    match_content: str | msgspec.UnsetType = msgspec.UNSET
    match_subject: str | msgspec.UnsetType = msgspec.UNSET
