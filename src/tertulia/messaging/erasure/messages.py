"""What somebody wrote: deleted as DELETE /messages would, or given to the account that stands for all who are gone."""

from collections.abc import Sequence

from tertulia.events.log.record import record
from tertulia.kernel.db import Database, Transaction
from tertulia.messaging.editing.deletion import PORTION
from tertulia.messaging.editing.model import Moving
from tertulia.messaging.editing.queries import lock_conversation
from tertulia.messaging.editing.retention.actions import channel_of, remove_all
from tertulia.messaging.editing.retention.queries import Expired, written_by
from tertulia.messaging.editing.telling import listeners
from tertulia.messaging.erasure import queries, statements
from tertulia.messaging.erasure.model import Erasure, Messages
from tertulia.people.users import events
from tertulia.people.users.authentication.queries import get_owner
from tertulia.people.users.queries import get_person


async def next_portion(database: Database, erasure: Erasure) -> dict[str, int]:
    """Deal with some messages; by table, how many rows. Nothing: there are none left, or they stay as they are."""
    if erasure.messages is Messages.KEEP:
        return {}
    if erasure.messages is Messages.DELETE:
        return await _delete(database, erasure.account_ids)
    shared_id = await shared_account(database, erasure.realm_id)
    return await _give(database, erasure.account_ids, shared_id)


async def _delete(database: Database, ids: Sequence[int]) -> dict[str, int]:
    """A portion of one conversation, in the transaction that its readers are told by."""
    async with database.reader() as reader:
        found = await statements.written(reader, ids, PORTION)
    if found is None:
        return {}
    conversation_id, message_ids = found
    async with database.transaction() as tx:
        await lock_conversation(tx, conversation_id)
        messages = await written_by(tx, conversation_id, PORTION, ids, message_ids)
        revisions = await statements.count_revisions(tx, message_ids)
        await remove_all(tx, conversation_id, messages)
    # At least one: messages that moved away meanwhile are looked for again.
    return {"message": len(messages), "message_revision": revisions}


async def _give(database: Database, ids: Sequence[int], shared_id: int) -> dict[str, int]:
    """The same of those that get another author."""
    async with database.reader() as reader:
        found = await statements.written(reader, ids, PORTION)
    if found is None:
        return {}
    conversation_id, message_ids = found
    async with database.transaction() as tx:
        await lock_conversation(tx, conversation_id)
        messages = await written_by(tx, conversation_id, PORTION, ids, message_ids)
        await statements.give_messages(tx, [message.id for message in messages], shared_id)
        if messages:
            await _tell_given(tx, messages, shared_id)
    return {"message": len(messages)}


async def _tell_given(tx: Transaction, messages: Sequence[Expired], shared_id: int) -> None:
    bot = (await get_owner(tx, messages[0].bot_id)).caller
    channel = await channel_of(tx, bot, messages)
    moving = [Moving(message.id, message.seq) for message in messages]
    tx.allow_many_events()  # where history is protected, readers know different parts of it
    for told in await listeners(tx, messages[0].reached(), channel, moving):
        event = {"message_ids": told.ids, "sender_id": shared_id}
        tx.emit(bot.realm_id, record(told.to, "message_sender", event))


async def _shared(tx: Transaction, realm_id: int) -> int:
    user_id, is_new = await queries.shared_account(tx, realm_id)
    if is_new:
        person = await get_person(tx, user_id)
        tx.emit(realm_id, events.added(await events.those_who_know_now(tx, realm_id, user_id), person))
    return user_id


async def shared_account(database: Database, realm_id: int) -> int:
    """The account that stands for all who are gone."""
    async with database.transaction() as tx:
        return await _shared(tx, realm_id)
