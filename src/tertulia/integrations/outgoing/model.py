"""A call that is to be made, and what is posted."""

from typing import Any, Literal

import msgspec

from tertulia.kernel.auth import Caller
from tertulia.messaging.reading.model import MessageRecord

Trigger = Literal["mention", "direct_message"]


class Claimed(msgspec.Struct, frozen=True):
    """A call that a worker has taken."""

    bot_id: int
    message_id: int
    owner_id: int
    """Of the bot; a bot of nobody's counts as its own."""
    realm_id: int


class HookCall(msgspec.Struct, frozen=True):
    """A call, with all that is known of the bot."""

    bot: Caller
    is_usable: bool
    """Whether the bot and the organization are active."""
    owner_id: int | None
    message_id: int
    attempts: int
    """Including the one under way."""
    url: str | None
    interface: int
    token: str


class Posted(msgspec.Struct, frozen=True):
    """What a server of the protocol's own kind is sent (interface 1)."""

    bot_email: str
    bot_full_name: str
    data: str
    message: MessageRecord
    token: str
    trigger: Trigger


class Said(msgspec.Struct, frozen=True):
    """What a server answers. Everything may be missing: it need not say anything."""

    content: Any = None
    response_string: Any = None
    response_not_required: Any = None
    text: Any = None
