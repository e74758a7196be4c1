"""The one way to a message: what a user may not reach looks like what does not exist.

A direct message is reached by those who take part; a channel's message by whoever may read the channel's content, and with
protected history only if they received it. Writers use `hold_message`: the answer then stays true until the commit.
"""

from collections.abc import Collection
from datetime import datetime

import msgspec

from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.errors import Refusal, server_not_ready
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
    found = await find_message(reader, caller, message_id)
    if found is None:
        raise no_such_message()
    return found


async def find_message(reader: Reader, caller: Caller, message_id: int) -> Reached | None:
    """The message, if it is within the caller's reach."""
    row = await queries.reached_message(reader, caller.realm_id, caller.user_id, message_id)
    return None if row is None else Reached(**row)


async def reaches_all(reader: Reader, caller: Caller, message_ids: Collection[int]) -> bool:
    """Whether all of these messages, each named once, are within the caller's reach."""
    found = await queries.count_reached(reader, caller.realm_id, caller.user_id, list(message_ids))
    return found == len(message_ids)


async def reached_among(reader: Reader, caller: Caller, message_ids: Collection[int]) -> set[int]:
    """Which of these messages are within the caller's reach."""
    return await queries.reached_ids(reader, caller.realm_id, caller.user_id, list(message_ids))


async def hold_message(tx: Transaction, caller: Caller, message_id: int) -> Reached:
    """As `access_message`, for writers: the message stays as it is and where it is until the commit."""
    for _ in range(_MOVES_FOLLOWED):
        is_held = await queries.lock_reached(tx, caller.realm_id, caller.user_id, message_id)
        message = await access_message(tx, caller, message_id)
        if is_held:
            return message
        # It was moved while we waited for it, and is still within reach.
    raise moved_again()


def moved_again() -> Refusal:
    """For whoever wants to change a message, and never finds it where it was."""
    return server_not_ready("Others keep moving this message. Please try again.")


_MOVES_FOLLOWED = 3
