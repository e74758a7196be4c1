"""Bots: what the API shows of them beside their user record."""

import msgspec


class Service(msgspec.Struct, frozen=True):
    """Where an outgoing-webhook bot sends what it hears; it shows the token there to be believed."""

    base_url: str
    interface: int
    token: str


class Bot(msgspec.Struct, frozen=True):
    """A bot's settings, for its owner and for administrators."""

    user_id: int
    services: list[Service] = []
    default_sending_stream: str | None = None
    default_events_register_stream: str | None = None
    default_all_public_streams: bool = False


def without_tokens(bot: Bot) -> Bot:
    """A bot as those see it who may manage it and do not own it: the token would let them speak as this server."""
    return msgspec.structs.replace(bot, services=[msgspec.structs.replace(one, token="") for one in bot.services])


class OwnBot(msgspec.Struct, frozen=True):
    """A bot in its owner's list."""

    user_id: int
    username: str
    full_name: str
    avatar_url: str
    bot_type: int
    api_key: str | None = None
    """Always null: a key is shown once, when it is made."""
    default_sending_stream: str | None = None
    default_events_register_stream: str | None = None
    default_all_public_streams: bool = False


class NewBot(msgspec.Struct, frozen=True):
    """The answer of POST /bots; the key is not shown again."""

    user_id: int
    api_key: str
    avatar_url: str
    default_sending_stream: str | None = None
    default_events_register_stream: str | None = None
    default_all_public_streams: bool = False


class ChangedBot(msgspec.Struct):
    """The answer of PATCH /bots/{bot_id}: how the bot is now."""

    full_name: str
    avatar_url: str
    bot_owner: str | msgspec.UnsetType = msgspec.UNSET
    service_payload_url: str | msgspec.UnsetType = msgspec.UNSET
    service_interface: int | msgspec.UnsetType = msgspec.UNSET
    default_sending_stream: str | None = None
    default_events_register_stream: str | None = None
    default_all_public_streams: bool = False


def own_bot(
    user_id: int,
    email: str,
    full_name: str,
    bot_type: int,
    avatar_url: str,
    sending: str | None,
    register: str | None,
    *,
    all_public: bool,
) -> OwnBot:
    """A row of the owner's list."""
    return OwnBot(user_id, email, full_name, avatar_url, bot_type, None, sending, register, all_public)
