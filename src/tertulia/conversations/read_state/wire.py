"""What clients see of read state and flags."""

from typing import Literal

import msgspec
from msgspec import UNSET

from tertulia.conversations.read_state.unread import UnreadMessages
from tertulia.events.wire import Event, Unset


class RecentConversation(msgspec.Struct, frozen=True):
    """A direct conversation: the others in it, and its newest message."""

    user_ids: list[int]
    max_message_id: int


class UnreadDetails(msgspec.Struct, frozen=True, kw_only=True):
    """Where a message is that became unread again."""

    type: Literal["stream", "private"]
    mentioned: bool | Unset = UNSET
    user_ids: list[int] | Unset = UNSET
    stream_id: int | Unset = UNSET
    topic: str | Unset = UNSET
    unmuted_stream_msg: bool | Unset = UNSET


class UpdateMessageFlagsEvent(Event, frozen=True, kw_only=True):
    """A flag was put on messages of yours, or taken off. `all`: on all messages, and `messages` is empty."""

    type: Literal["update_message_flags"]
    op: Literal["add", "remove"]
    flag: str
    messages: list[int]
    all: bool
    operation: Literal["add", "remove"] | Unset = UNSET
    message_details: dict[str, UnreadDetails] | Unset = UNSET


KEYS = {
    "max_message_id": int,
    "unread_msgs": UnreadMessages,
    "starred_messages": list[int],
    "recent_private_conversations": list[RecentConversation],
}
