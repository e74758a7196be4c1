"""A notice on its way."""

import msgspec


class Notice(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message of the notification bot: to a topic of a channel, or to a person."""

    content: str
    channel_id: int | None = None
    topic: str = ""
    user_id: int | None = None
    read_by: int | None = None
    """Who need not be told: the message counts as read for them."""
