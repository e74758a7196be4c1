"""Writing down which bots a message calls, in the transaction that sends it."""

from collections.abc import Sequence

import structlog

from tertulia.integrations.outgoing import queries
from tertulia.integrations.outgoing.bounds import CALLED_BOTS, CALLS, OWNED_CALLS
from tertulia.integrations.outgoing.rules import bots_called
from tertulia.kernel.bounds import hold_counts
from tertulia.kernel.db import Transaction
from tertulia.messaging.sending.model import Outgoing

log = structlog.get_logger()


async def record_calls(tx: Transaction, sent: Sequence[tuple[int, Outgoing]]) -> None:
    """A side effect of sending: the worker finds these calls and makes them."""
    most = tx.bounds.limit(CALLED_BOTS)
    calls = [(bot_id, message_id) for message_id, message in sent for bot_id in bots_called(message)[:most]]
    if not calls:
        return
    await hold_counts(tx, CALLS, {bot_id for bot_id, _ in calls})
    made = await queries.insert_calls(tx, calls, tx.bounds.limit(CALLS), tx.bounds.limit(OWNED_CALLS))
    if made < len(calls):
        # A sender must not fail because a bot's server does; its owner has been told of many calls that failed.
        log.warning("bots are not called: too many calls of theirs wait", calls=len(calls), made=made)
