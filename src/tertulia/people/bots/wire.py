"""What clients see of bots, beside their user records."""

from typing import Literal

import msgspec
from msgspec import UNSET

from tertulia.events.wire import Event, Unset
from tertulia.people.bots.model import Bot, Service
from tertulia.people.users.wire import UserId


class RealmBotAddEvent(Event, frozen=True, kw_only=True):
    """A bot was created or became yours. Administrators get this for every bot, others for their own."""

    type: Literal["realm_bot"]
    op: Literal["add"]
    bot: Bot


class BotChange(msgspec.Struct, frozen=True, kw_only=True):
    """What changed about a bot."""

    user_id: int
    services: list[Service] | Unset = UNSET
    default_sending_stream: str | Unset | None = UNSET
    default_events_register_stream: str | Unset | None = UNSET
    default_all_public_streams: bool | Unset = UNSET


class RealmBotUpdateEvent(Event, frozen=True, kw_only=True):
    """A bot changed."""

    type: Literal["realm_bot"]
    op: Literal["update"]
    bot: BotChange


class RealmBotDeleteEvent(Event, frozen=True, kw_only=True):
    """A bot is no longer yours, or its settings are no longer visible to you."""

    type: Literal["realm_bot"]
    op: Literal["delete"]
    bot: UserId


KEYS = {
    "realm_bots": list[Bot],
    "realm_embedded_bots": list[str],
    "realm_bot_domain": str,
}
