"""Holding what changes: the message's conversation and the one it goes to, and what they are to the caller."""

from tertulia.channels.access import find_channel
from tertulia.channels.model import Channel
from tertulia.edits import queries
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal, server_not_ready
from tertulia.messages.access import Reached, access_message, no_such_message

_MOVES_FOLLOWED = 10


async def hold(
    tx: Transaction, caller: Caller, message_id: int, target_id: int | None = None
) -> tuple[Reached, Channel | None, Channel | None]:
    """The message within the caller's reach, its channel, and the channel it shall go to.

    Nobody sends to, changes, joins or leaves these conversations before the commit.
    """
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
        raise server_not_ready("Others keep moving this message. Please try again.")
    if message.participants is not None:
        return message, None, None
    channel = await find_channel(tx, caller, message.conversation_id)
    if channel is None or channel.is_archived:
        raise no_such_message()
    return message, channel, await _target(tx, caller, channel, target_id)


async def _target(tx: Transaction, caller: Caller, channel: Channel, target_id: int | None) -> Channel | None:
    if target_id is None or target_id == channel.id:
        return None
    target = await find_channel(tx, caller, target_id)
    if target is None or target.is_archived:
        raise Refusal("Invalid channel ID")
    return target
