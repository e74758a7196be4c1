"""Retention: messages that are older than their channel or organization keeps them are deleted, as if somebody did it.

The worker does it in portions of one conversation, oldest first: each is a transaction under the conversation's lock, tells
who DELETE /messages would tell, and reads the rule of that moment. Memory does not grow with what there is to delete.
Conversations take turns, and one in which it fails waits for the next time: no organization keeps back what others want gone.
"""

from collections.abc import Sequence
from itertools import groupby

import structlog

from tertulia.conversations.channels.model import Channel
from tertulia.conversations.channels.queries import ChannelKey, channels_by_key
from tertulia.conversations.read_state.marking.queries import change_places
from tertulia.files.uploads.links.actions import hold_linked
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import LOST, Database, Reader, Transaction
from tertulia.messaging.editing import queries
from tertulia.messaging.editing.deletion import PORTION, remove
from tertulia.messaging.editing.model import Moving
from tertulia.messaging.editing.retention.queries import Expired, due_conversations, oldest_expired
from tertulia.people.users.authentication.queries import get_owner

log = structlog.get_logger()

CONVERSATIONS = 200
"""So many are looked up at a time."""
PORTIONS = 50
"""Of one conversation, before it is the others' turn."""


async def delete_expired_messages(database: Database) -> int:
    """Delete all messages that are kept no longer; returns how many."""
    total, failed = 0, set[int]()
    while True:
        done, is_all = await _go_round(database, failed)
        total += done
        if is_all:
            return total


async def _go_round(database: Database, failed: set[int]) -> tuple[int, bool]:
    """A turn for each conversation but those in which it has failed; how many are gone, and whether those are all."""
    total, last, is_all = 0, 0, True
    while True:
        async with database.reader() as reader:
            due = await due_conversations(reader, last, CONVERSATIONS)
        for conversation_id in due:
            if conversation_id in failed:
                continue
            try:
                for _ in range(PORTIONS):
                    done = await _delete_portion(database, conversation_id)
                    total += done
                    if done < PORTION:
                        break
                else:
                    is_all = False
            except LOST:
                raise
            except Exception:
                log.exception("expired messages could not be deleted", conversation_id=conversation_id)
                failed.add(conversation_id)
        if len(due) < CONVERSATIONS:
            return total, is_all
        last = due[-1]


async def _delete_portion(database: Database, conversation_id: int) -> int:
    """Between two portions those who write there have their turn."""
    async with database.transaction() as tx:
        await queries.lock_conversation(tx, conversation_id)
        expired = await oldest_expired(tx, conversation_id, PORTION)
        await remove_all(tx, conversation_id, expired)
        return len(expired)


async def remove_all(tx: Transaction, conversation_id: int, expired: Sequence[Expired]) -> None:
    """Remove messages of one conversation, which is held, topic by topic, as the server itself."""
    if not expired:
        return
    bot = (await get_owner(tx, expired[0].bot_id)).caller
    channel = await channel_of(tx, bot, expired)
    # What the steps below hold one after the other: here in the order of locks.
    await change_places(tx, bot.realm_id, [conversation_id])
    await hold_linked(tx, [message.id for message in expired])
    for _, group in groupby(expired, key=lambda message: message.topic_id):
        messages = list(group)
        moving = [Moving(message.id, message.seq) for message in messages]
        await remove(tx, bot, messages[-1].reached(), channel, moving)


async def channel_of(reader: Reader, bot: Caller, expired: Sequence[Expired]) -> Channel | None:
    """The channel of the messages; None of a direct conversation."""
    first = expired[0]
    if first.participants is not None:
        return None
    key = ChannelKey(bot.realm_id, bot.user_id, first.conversation_id, None)
    return (await channels_by_key(reader, [key]))[key]
