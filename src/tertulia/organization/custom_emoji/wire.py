"""What clients see of custom emoji."""

from typing import Literal

import msgspec
from msgspec import UNSET

from tertulia.events.wire import Event, Unset
from tertulia.organization.custom_emoji.model import EmojiRecord


class RealmEmojiEvent(Event, frozen=True, kw_only=True):
    """The custom emoji changed: all of them."""

    type: Literal["realm_emoji"]
    op: Literal["update"]
    realm_emoji: dict[str, EmojiRecord]


class RealmEmojiAddEvent(Event, frozen=True, kw_only=True):
    """A custom emoji was added, for clients with `individual_emoji_changes`."""

    type: Literal["realm_emoji"]
    op: Literal["add"]
    emoji: EmojiRecord


class EmojiChange(msgspec.Struct, frozen=True, kw_only=True):
    """What changed about a custom emoji."""

    name: str | Unset = UNSET
    deactivated: bool | Unset = UNSET


class RealmEmojiUpdateOneEvent(Event, frozen=True, kw_only=True):
    """A custom emoji changed, for clients with `individual_emoji_changes`."""

    type: Literal["realm_emoji"]
    op: Literal["update_one"]
    emoji_id: str
    data: EmojiChange


KEYS = {
    "realm_emoji": dict[str, EmojiRecord],
}
