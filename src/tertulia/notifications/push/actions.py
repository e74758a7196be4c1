"""Writing down which messages may have to be pushed, in the transaction that sends them."""

from collections.abc import Sequence

from tertulia.kernel.db import Transaction
from tertulia.messaging.sending.model import Outgoing
from tertulia.notifications.push import queries
from tertulia.organization.realms.settings import notes_of


async def record_pushes(tx: Transaction, sent: Sequence[tuple[int, Outgoing]]) -> None:
    """A side effect of sending: the worker finds these messages and decides whom they are pushed to."""
    due = [message_id for message_id, message in sent if notes_of(message.sender).has_pushes and not message.is_notice]
    if due:
        await queries.insert_due(tx, due)
