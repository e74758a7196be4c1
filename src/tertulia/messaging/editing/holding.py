"""Holding what changes: the message's conversation and the one it goes to, and what they are to the caller."""

import msgspec

from tertulia.conversations.channels.access import find_channel, get_active_channel
from tertulia.conversations.channels.model import Channel
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.messaging.editing import queries
from tertulia.messaging.editing.model import Rights
from tertulia.messaging.editing.rights import rights_over
from tertulia.messaging.reading.access import Reached, access_message, moved_again, no_such_message

_MOVES_FOLLOWED = 10


class Held(msgspec.Struct, frozen=True):
    """A message within the caller's reach; nobody sends to, changes, joins or leaves its conversation before the commit."""

    message: Reached
    rights: Rights
    """What the caller may do to it, asked under the locks."""
    channel: Channel | None = None
    """None: it is a direct message."""
    target: Channel | None = None
    """The channel it shall go to, if that is another; held as well."""


async def hold(tx: Transaction, caller: Caller, message_id: int, target_id: int | None = None) -> Held:
    """Hold a message, and the channel it shall go to."""
    # Look first: whoever may not see the message does not hold up those who write there.
    await access_message(tx, caller, message_id)
    for _ in range(_MOVES_FOLLOWED):
        await tx.execute("savepoint held")
        held = await queries.lock_conversations(tx, message_id, target_id)
        message = await access_message(tx, caller, message_id)
        if message.conversation_id == held:
            break
        # It was moved while we waited for its old conversation. The locks are given back, so that the new ones are taken in
        # the order that everybody keeps.
        await tx.execute("rollback to savepoint held")
    else:
        raise moved_again()
    if message.participants is not None:
        return Held(message, await rights_over(tx, caller, message.sender_id, message.conversation_id))
    channel = await find_channel(tx, caller, message.conversation_id)
    if channel is None or channel.is_archived:
        raise no_such_message()
    target = await _target(tx, caller, channel, target_id)
    return Held(message, await rights_over(tx, caller, message.sender_id, channel.id), channel, target)


async def _target(tx: Transaction, caller: Caller, channel: Channel, target_id: int | None) -> Channel | None:
    if target_id is None or target_id == channel.id:
        return None
    return await get_active_channel(tx, caller, target_id)
