"""The events of bots. Administrators hear of all bots, others of their own."""

from collections.abc import Iterable

from tertulia.bots.model import Bot
from tertulia.events.record import Audience, Record, record


def added(to: Iterable[int], bot: Bot) -> Record:
    """These people see a bot that they did not see before."""
    return record(Audience(users=tuple(sorted(to))), "realm_bot", {"op": "add", "bot": bot})


def services_changed(to: Iterable[int], bot: Bot) -> Record:
    """A bot sends what it hears to another place."""
    event = {"op": "update", "bot": {"user_id": bot.user_id, "services": bot.services}}
    return record(Audience(users=tuple(sorted(to))), "realm_bot", event)


def changed(to: Iterable[int], bot_id: int, keys: dict[str, object]) -> Record:
    """Something else about a bot is another now."""
    return record(Audience(users=tuple(sorted(to))), "realm_bot", {"op": "update", "bot": {"user_id": bot_id, **keys}})


def lost(to: Iterable[int], bot_id: int) -> Record:
    """These people do not see the bot's settings any more."""
    return record(Audience(users=tuple(sorted(to))), "realm_bot", {"op": "delete", "bot": {"user_id": bot_id}})
