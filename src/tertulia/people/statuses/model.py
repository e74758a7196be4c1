"""Statuses: as they are changed, kept and shown."""

from typing import Any

import msgspec

from tertulia.kernel.compat import emoji_type_for
from tertulia.organization.custom_emoji.model import UNICODE, Emoji, EmojiType

NO_EMOJI = Emoji("", "", UNICODE)


class StatusChange(msgspec.Struct, frozen=True):
    """What somebody wants to change; None: it stays."""

    status_text: str | None = None
    emoji: Emoji | None = None
    """NO_EMOJI takes it away."""
    away: bool | None = None


class Status(msgspec.Struct, frozen=True):
    """A status as it is stored, with what its owner's settings say."""

    user_id: int
    status_text: str
    emoji_name: str
    emoji_code: str
    reaction_type: EmojiType
    away: bool


def shown(status: Status, client: str) -> dict[str, Any]:
    """Only what is set."""
    found: dict[str, Any] = {}
    if status.away:
        found["away"] = True
    if status.status_text:
        found["status_text"] = status.status_text
    if status.emoji_name:
        found |= {"emoji_name": status.emoji_name, "emoji_code": status.emoji_code}
        found["reaction_type"] = emoji_type_for(status.reaction_type, client)
    return found
