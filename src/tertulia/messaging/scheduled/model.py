"""Scheduled messages: as they are kept and shown."""

from typing import Literal

import msgspec

from tertulia.messaging.sending.rules import ToChannel, ToPeople


class ScheduledRecord(msgspec.Struct, frozen=True):
    """A scheduled message as the API shows it."""

    scheduled_message_id: int
    type: Literal["stream", "private"]
    to: int | list[int]
    content: str
    rendered_content: str
    scheduled_delivery_timestamp: int
    failed: bool
    topic: str | msgspec.UnsetType = msgspec.UNSET


class Scheduled(msgspec.Struct, frozen=True, kw_only=True):
    """A scheduled message as it is stored."""

    id: int = 0
    channel_id: int | None
    user_ids: list[int] | None
    topic: str
    content: str
    rendered: str
    client: str
    read: bool
    due: int
    failed: bool = False
    version: int = 1

    @property
    def is_channel(self) -> bool:
        """To a channel, not to people."""
        return self.channel_id is not None

    @property
    def address(self) -> ToChannel | ToPeople:
        """Where it goes."""
        if self.channel_id is not None:
            return ToChannel(self.channel_id, self.topic)
        return ToPeople(ids=tuple(self.user_ids or ()))

    @property
    def record(self) -> ScheduledRecord:
        """As the API shows it."""
        return ScheduledRecord(
            scheduled_message_id=self.id,
            type="stream" if self.channel_id is not None else "private",
            to=self.channel_id if self.channel_id is not None else self.user_ids or [],
            content=self.content,
            rendered_content=self.rendered,
            scheduled_delivery_timestamp=self.due,
            failed=self.failed,
            topic=self.topic if self.channel_id is not None else msgspec.UNSET,
        )
