"""What clients see of reactions."""

from typing import Literal

import msgspec
from msgspec import UNSET

from tertulia.events.wire import Event, Unset


class ReactingUser(msgspec.Struct, frozen=True):
    """Who reacted, in the older form."""

    user_id: int
    email: str
    full_name: str


class ReactionEvent(Event, frozen=True, kw_only=True):
    """Somebody added a reaction to a message, or removed it."""

    type: Literal["reaction"]
    op: Literal["add", "remove"]
    message_id: int
    user_id: int
    emoji_name: str
    emoji_code: str
    reaction_type: str
    user: ReactingUser | Unset = UNSET
