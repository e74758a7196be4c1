"""The events of bots. Administrators hear of all bots, others of their own; tokens are told to the owner alone."""

from collections.abc import Iterable, Iterator

from tertulia.events.log.record import Audience, Record, record
from tertulia.people.bots.model import Bot, without_tokens


def added(to: Iterable[int], bot: Bot, owner_id: int | None) -> Iterator[Record]:
    """These people see a bot that they did not see before."""
    for audience, shown in _shown(to, bot, owner_id):
        yield record(audience, "realm_bot", {"op": "add", "bot": shown})


def services_changed(to: Iterable[int], bot: Bot, owner_id: int | None) -> Iterator[Record]:
    """A bot sends what it hears to another place, or shows another token there."""
    for audience, shown in _shown(to, bot, owner_id):
        event = {"op": "update", "bot": {"user_id": shown.user_id, "services": shown.services}}
        yield record(audience, "realm_bot", event)


def _shown(to: Iterable[int], bot: Bot, owner_id: int | None) -> Iterator[tuple[Audience, Bot]]:
    everybody = set(to)
    for users, shown in ((everybody & {owner_id}, bot), (everybody - {owner_id}, without_tokens(bot))):
        if users:
            yield Audience(users=tuple(sorted(users))), shown


def changed(to: Iterable[int], bot_id: int, keys: dict[str, object]) -> Record:
    """Something else about a bot changed."""
    return record(Audience(users=tuple(sorted(to))), "realm_bot", {"op": "update", "bot": {"user_id": bot_id, **keys}})


def lost(to: Iterable[int], bot_id: int) -> Record:
    """These people do not see the bot's settings any more."""
    return record(Audience(users=tuple(sorted(to))), "realm_bot", {"op": "delete", "bot": {"user_id": bot_id}})
