"""What clients see of erasures."""

from typing import Literal

from tertulia.events.wire import Event


class MessageSenderEvent(Event, frozen=True, kw_only=True):
    """Messages of one conversation have another author: the account for all who are gone."""

    type: Literal["message_sender"]
    message_ids: list[int]
    sender_id: int
