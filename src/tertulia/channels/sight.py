"""Limited guests who come to see somebody hear at once all that the state of a registration would say of them.

As users/sight.py, and with it what the person is up to and when they were there: features that users/ does not know.
"""

from collections.abc import Sequence

from tertulia.kernel.db import Transaction
from tertulia.presence.sight import tell_presences
from tertulia.statuses.sight import tell_statuses
from tertulia.users import sight


async def tell_subscribed(tx: Transaction, realm_id: int, joined: Sequence[tuple[int, int]]) -> None:
    """Users, each with a channel they were not in before this transaction."""
    await _tell_more(tx, realm_id, await sight.tell_subscribed(tx, realm_id, joined))


async def tell_met(tx: Transaction, realm_id: int, conversation_id: int) -> None:
    """A direct conversation that this transaction made."""
    await _tell_more(tx, realm_id, await sight.tell_met(tx, realm_id, conversation_id))


async def _tell_more(tx: Transaction, realm_id: int, seen: sight.Seen) -> None:
    if seen:
        await tell_statuses(tx, realm_id, seen)
        await tell_presences(tx, realm_id, seen)
