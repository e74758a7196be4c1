"""What a bot does when it does not say: where it sends, and which channels it listens to.

Channels are a feature above this one: it provides `ChannelHolder` as a service. A default gives no right: what the bot may
do is checked when it does it.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence

import msgspec

from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Database, Transaction
from tertulia.people.bots import events, queries
from tertulia.people.bots.model import Bot


class ChannelHolder(msgspec.Struct, frozen=True):
    """Finds channels that the caller reaches by their names, and locks them; refuses the rest. Before any account lock."""

    hold: Callable[[Transaction, Caller, Sequence[str]], Awaitable[dict[str, int]]]


class Defaults(msgspec.Struct, frozen=True):
    """What is wanted; None: as it is, an empty name: no channel."""

    sending: str | None = None
    register: str | None = None
    all_public: bool | None = None


class HeldDefaults(msgspec.Struct, frozen=True):
    """The same with channels that exist and are held; None: none, UNSET: as it is."""

    sending: int | msgspec.UnsetType | None = msgspec.UNSET
    register: int | msgspec.UnsetType | None = msgspec.UNSET
    all_public: bool | msgspec.UnsetType = msgspec.UNSET


class ListeningDefaults(msgspec.Struct, frozen=True):
    """What a bot's event queue brings when it does not say: all public channels, or the messages of one channel only."""

    all_public: bool
    channel: str | None


async def hold_defaults(tx: Transaction, caller: Caller, channels: ChannelHolder, wanted: Defaults) -> HeldDefaults:
    """Find and hold the channels that are wanted."""
    named = [name for name in (wanted.sending, wanted.register) if name]
    ids = await channels.hold(tx, caller, named) if named else {}

    def chosen(name: str | None) -> int | msgspec.UnsetType | None:
        return msgspec.UNSET if name is None else ids.get(name)

    all_public = msgspec.UNSET if wanted.all_public is None else wanted.all_public
    return HeldDefaults(chosen(wanted.sending), chosen(wanted.register), all_public)


async def change_defaults(tx: Transaction, bot_id: int, held: HeldDefaults) -> dict[str, object]:
    """Write them; returns what changed, as the API shows it to who knows of all channels."""
    if held == HeldDefaults():
        return {}
    before = shown(await queries.get_bot(tx, bot_id))
    await queries.put_defaults(tx, bot_id, held.sending, held.register, held.all_public)
    after = shown(await queries.get_bot(tx, bot_id))
    return {name: value for name, value in after.items() if value != before[name]}


async def tell_changed(
    tx: Transaction, realm_id: int, bot_id: int, owner_id: int | None, names: Collection[str]
) -> None:
    """Tell those who see a bot of these defaults of it, after they were stored."""
    bot, seen = await queries.get_bot(tx, bot_id), await queries.get_bot(tx, bot_id, seen_by=owner_id)
    _tell(tx, realm_id, await queries.administrator_ids(tx, realm_id), owner_id, bot, seen, names)


def _tell(
    tx: Transaction,
    realm_id: int,
    administrators: set[int],
    owner_id: int | None,
    bot: Bot,
    seen: Bot,
    names: Collection[str],
) -> None:
    """Administrators know of all channels; the bot's owner is told what they see."""
    owner = set() if owner_id is None else {owner_id} - administrators
    parts = [(administrators | owner, bot)] if seen == bot else [(administrators, bot), (owner, seen)]
    for to, shape in parts:
        if to:
            now = shown(shape)
            tx.emit(realm_id, events.changed(to, bot.user_id, {name: now[name] for name in names}))


async def tell_renamed(tx: Transaction, realm_id: int, channel_id: int) -> None:
    """Tell those who see a bot that a channel it names has another name, after that was stored. The channel is held."""
    found = await queries.bots_naming(tx, channel_id)
    if not found:
        return
    administrators = await queries.administrator_ids(tx, realm_id)
    for owner_id, bot, seen in found:
        _tell(tx, realm_id, administrators, owner_id, bot, seen, SHOWN)


async def listening_defaults(database: Database, bot_id: int) -> ListeningDefaults:
    """What a bot listens to when it does not say."""
    async with database.reader() as reader:
        bot = await queries.get_bot(reader, bot_id)
    return ListeningDefaults(bot.default_all_public_streams, bot.default_events_register_stream)


SHOWN = ("default_sending_stream", "default_events_register_stream", "default_all_public_streams")


def shown(bot: Bot) -> dict[str, object]:
    """A bot's defaults as the API shows them."""
    return {name: getattr(bot, name) for name in SHOWN}
