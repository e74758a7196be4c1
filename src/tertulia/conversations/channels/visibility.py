"""Limited guests who come to see somebody hear at once all that the state of a registration would say of them.

As people/users/visibility/events.py, and with it what the person is up to and when they were there: features that users/
does not know.
"""

from collections.abc import Sequence

from tertulia.kernel.db import Transaction
from tertulia.people.presence.visibility import tell_presences
from tertulia.people.statuses.visibility import tell_statuses
from tertulia.people.users.visibility import events as users_visibility


async def tell_subscribed(tx: Transaction, realm_id: int, joined: Sequence[tuple[int, int]]) -> None:
    """Users, each with a channel they were not in before this transaction."""
    await _tell_more(tx, realm_id, await users_visibility.tell_subscribed(tx, realm_id, joined))


async def tell_met(tx: Transaction, realm_id: int, conversation_id: int) -> None:
    """A direct conversation that this transaction made."""
    await _tell_more(tx, realm_id, await users_visibility.tell_met(tx, realm_id, conversation_id))


async def _tell_more(tx: Transaction, realm_id: int, seen: users_visibility.Seen) -> None:
    if seen:
        await tell_statuses(tx, realm_id, seen)
        await tell_presences(tx, realm_id, seen)
