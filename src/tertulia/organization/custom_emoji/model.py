"""Emoji as reactions and statuses name them."""

from typing import Literal

import msgspec

EmojiType = Literal["unicode_emoji", "realm_emoji", "service_extra_emoji"]
UNICODE: EmojiType = "unicode_emoji"
CUSTOM: EmojiType = "realm_emoji"
EXTRA: EmojiType = "service_extra_emoji"


class Emoji(msgspec.Struct, frozen=True):
    """Type and code identify it; the name is only shown."""

    emoji_name: str
    emoji_code: str
    reaction_type: EmojiType


class CustomEmoji(msgspec.Struct, frozen=True):
    """An emoji somebody made."""

    id: int
    name: str
    is_deactivated: bool


class EmojiRecord(msgspec.Struct, frozen=True):
    """A custom emoji as the API shows it."""

    id: str
    name: str
    source_url: str
    still_url: str | None
    deactivated: bool
    author_id: int | None


class KeptPicture(msgspec.Struct, frozen=True):
    """A picture in the store."""

    file_name: str
    moves: bool
    """Whether it is animated: then the first frame is in a second file, `still_name`."""


def picture_url(realm_id: int, file_name: str) -> str:
    """Where the picture of a custom emoji is."""
    return f"/user_avatars/{realm_id}/emoji/images/{file_name}"


def still_name(file_name: str) -> str:
    """The file of the first frame of an animated picture."""
    return file_name.rpartition(".")[0] + "-still.png"
