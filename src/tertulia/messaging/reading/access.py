"""The one way to a message: what a user may not reach looks like what does not exist.

A direct message is reached by those who take part; a channel's message by whoever may read the channel's content, and with
protected history only if they received it. Writers use `hold_message`: the answer then stays true until the commit.
"""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.messaging.reading import queries


class Reached(msgspec.Struct, frozen=True, kw_only=True):
    """A message within a user's reach: where it is, what it is, and what it is to that user."""

    id: int
    realm_id: int
    conversation_id: int
    seq: int
    sender_id: int
    sent_at: datetime
    content: str
    rendered: str
    topic_id: int | None
    """None in a direct conversation; the same holds for `topic` and `channel`."""
    topic: str | None
    channel: str | None
    is_archived: bool
    """The message is in an archived channel."""
    participants: list[int] | None
    """Ascending user ids of a direct conversation; None in a channel."""
    is_received: bool
    """It was sent while the user belonged to the conversation."""
    is_subscribed: bool
    """The user belongs to the conversation now."""


def no_such_message() -> Refusal:
    """The refusal for messages that do not exist, or might as well not exist for this caller."""
    return Refusal("Invalid message(s): there is no such message, or you can't access it.")


async def access_message(reader: Reader, caller: Caller, message_id: int) -> Reached:
    """The message; a Refusal if it is out of the caller's reach."""
    found = await find_messages(reader, caller, [message_id])
    if not found:
        raise no_such_message()
    return found[0]


async def find_messages(reader: Reader, caller: Caller, message_ids: Sequence[int]) -> list[Reached]:
    """Those of the messages that are within the caller's reach, by id."""
    rows = await queries.reached_messages(reader, caller.realm_id, caller.user_id, message_ids)
    return [Reached(**row) for row in rows]


async def hold_message(tx: Transaction, caller: Caller, message_id: int, *, whole: bool = False) -> Reached:
    """As `access_message`, for writers: the message stays as it is and where it is until the commit.

    `whole`: its conversation too, locked first, so that nobody else writes there, senders included.
    """
    for _ in range(_MOVES_FOLLOWED):
        conversation_id = await queries.lock_conversation_of(tx, message_id) if whole else None
        found = await queries.lock_message(tx, message_id)
        # It may have been moved while we waited for its old conversation: then the new one is to be locked.
        if found is not None and (not whole or found == conversation_id):
            return await access_message(tx, caller, message_id)
    raise no_such_message()


_MOVES_FOLLOWED = 3
