"""What somebody wrote: deleted as DELETE /messages would, or given to the account that stands for all who are gone."""

from collections.abc import Sequence

from tertulia.kernel.db import Database, Transaction
from tertulia.messaging.editing.deletion import PORTION
from tertulia.messaging.editing.queries import lock_conversation
from tertulia.messaging.editing.retention.actions import remove_all
from tertulia.messaging.editing.retention.queries import written_by
from tertulia.messaging.erasure import queries, statements
from tertulia.messaging.erasure.model import Erasure, Messages
from tertulia.people.users import events
from tertulia.people.users.queries import get_person

GIVEN = 1000


async def next_portion(database: Database, erasure: Erasure) -> dict[str, int]:
    """Deal with some messages; by table, how many rows. Nothing: there are none left, or they stay as they are."""
    if erasure.messages is Messages.KEEP:
        return {}
    if erasure.messages is Messages.DELETE:
        return await _delete(database, erasure.account_ids)
    async with database.transaction() as tx:
        shared_id = await _shared(tx, erasure.realm_id)
    async with database.transaction() as tx:
        given = await statements.give_messages(tx, erasure.account_ids, shared_id, GIVEN)
    return {"message": given} if given else {}


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
