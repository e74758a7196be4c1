"""A notice on its way."""

import msgspec

from tertulia.content.markup.writing import Text

BOT_NAME = "Notification Bot"


class Notice(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message of the notification bot: to a topic of a channel, or to a person."""

    text: Text
    channel_id: int | None = None
    topic: str = ""
    user_id: int | None = None
    read_by: int | None = None
    """Who need not be told: the message counts as read for them."""
    seen_by: int | None = None
    """In a channel: who wrote what is quoted. Names in it stand for whom they see, and for nobody else."""
