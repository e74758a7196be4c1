"""What is told of pins: to whoever reads the message, in queues that say they understand it."""

import msgspec

from tertulia.events.log.record import record
from tertulia.kernel.db import Transaction
from tertulia.messaging.reading.access import Reached
from tertulia.messaging.reading.audiences import audience_of

CAPABILITY = "pinned_messages"


async def tell(tx: Transaction, realm_id: int, message: Reached, pinned_at: int | None) -> None:
    """A message is pinned since then; None: no longer. A pin that goes with its message is told by what is told of that."""
    event: dict[str, object] = {"op": "add" if pinned_at is not None else "remove", "message_id": message.id}
    if pinned_at is not None:
        event["pinned_at"] = pinned_at
    if message.participants is None:
        event |= {"stream_id": message.conversation_id, "topic": message.topic}
    else:
        event["user_ids"] = message.participants
    audience = msgspec.structs.replace(await audience_of(tx, message), needs=CAPABILITY)
    tx.emit(realm_id, record(audience, "pin", event))
