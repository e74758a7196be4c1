"""Emoji as reactions and statuses name them."""

from typing import Literal

import msgspec

EmojiType = Literal["unicode_emoji", "realm_emoji", "service_extra_emoji"]
UNICODE: EmojiType = "unicode_emoji"
CUSTOM: EmojiType = "realm_emoji"
EXTRA: EmojiType = "service_extra_emoji"
OLD_EXTRA = "zulip_extra_emoji"
"""How existing clients spell the third type."""


class Emoji(msgspec.Struct, frozen=True):
    """Type and code are what it is; the name is decoration."""

    emoji_name: str
    emoji_code: str
    reaction_type: EmojiType


class CustomEmoji(msgspec.Struct, frozen=True):
    """An emoji somebody made."""

    id: int
    name: str
    is_deactivated: bool


def type_of(sent: str) -> str:
    """A type as we spell it, from how a client spells it."""
    return EXTRA if sent == OLD_EXTRA else sent


def shown_type(reaction_type: str, client: str) -> str:
    """A type as a client expects it: existing ones refuse a spelling they do not know."""
    return OLD_EXTRA if reaction_type == EXTRA and client.startswith("Zulip") else reaction_type
