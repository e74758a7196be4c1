"""A bot gets another owner: from then on somebody else reads by it.

So it keeps only what the new owner could read anyway. It leaves private channels that they cannot read, and of direct
messages, and of channels whose history is protected, it keeps what comes from now on. Its keys and queues end, and it never
becomes more than it counted as before. Conversations are a feature above this one, which provides the service.

What else a bot has of its own (storage, scheduled messages, files) goes as well: each feature that keeps such things lends a
`Belongings`. A test goes over all tables with accounts: one that no feature empties here is explained there.
"""

from collections.abc import Awaitable, Callable

import msgspec

from tertulia.kernel.db import Transaction
from tertulia.organization.audit_log import Act, note, user
from tertulia.people.users import events, queries
from tertulia.people.users.actions import tell_role
from tertulia.people.users.authentication.revocation import end_keys
from tertulia.people.users.model import Account


class Handed(msgspec.Struct, frozen=True):
    """A bot that gets another owner."""

    realm_id: int
    bot_id: int
    former_owner_id: int | None


class Belongings(msgspec.Struct, frozen=True):
    """What a feature keeps for an account, and how it is taken from a bot (`Feature.hooks`).

    Called while the accounts and the bot's conversations are held. The bot's queues end, so nobody is told.
    """

    tables: tuple[str, ...]
    """Afterwards none of their rows is the bot's."""
    take: Callable[[Transaction, Handed], Awaitable[None]]


class BotHandover(msgspec.Struct, frozen=True):
    """What becomes of a bot's conversations. `hold` is called before any account is held, `part` after the change."""

    hold: Callable[[Transaction, int], Awaitable[None]]
    """Hold the conversations of a bot that not everybody can read."""
    part: Callable[[Transaction, int, int, int], Awaitable[None]]
    """Take from a bot (realm, bot, new owner) what its new owner could not read."""
    belongings: tuple[Belongings, ...]
    """From the lowest feature to the highest."""


async def hand_over(tx: Transaction, realm_id: int, bot: Account, owner_id: int, handover: BotHandover) -> None:
    """Give a bot to somebody, and tell who knows it. Its conversations and both accounts are held."""
    tx.allow_many_events()  # some for each private channel that it leaves
    role = await queries.set_bot_owner(tx, bot.id, owner_id)
    await handover.part(tx, realm_id, bot.id, owner_id)
    note(tx, realm_id, Act.BOT_OWNER_CHANGED, user(bot.id), bot_owner_id=(bot.bot_owner_id, owner_id))
    handed = Handed(realm_id, bot.id, bot.bot_owner_id)
    # The highest first: whoever delivers scheduled messages has claimed them before the files that they link are held.
    for belongings in reversed(handover.belongings):
        await belongings.take(tx, handed)
    to = await events.those_who_know(tx, realm_id, bot.id)
    tx.emit(realm_id, events.updated(to, bot.id, ends=(bot.id,), bot_owner_id=owner_id))
    await tell_role(tx, realm_id, bot, role)
    await end_keys(tx, bot.id)
