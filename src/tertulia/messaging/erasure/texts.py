"""What others wrote that names the person: mentions get the name of somebody who has none, in the text and in its HTML.

The worker's way through all messages is in portions by id, so that no lock is held for long. A message that is changed counts
as unchanged, and its readers are told to draw it anew.
"""

from collections.abc import Mapping

import msgspec

from tertulia.content.markup.renaming import mark_of, renamed, renamed_text
from tertulia.events.log.record import record
from tertulia.kernel.db import Database, Transaction
from tertulia.messaging.editing.previews.actions import listeners_of, tell_redrawn
from tertulia.messaging.editing.previews.queries import lock_waiting, write_renamed
from tertulia.messaging.erasure import messages, statements
from tertulia.messaging.erasure.model import Erasure, Messages, address_of, name_of
from tertulia.messaging.reactions.events import Reacted
from tertulia.messaging.reminders.actions import MAX_NOTE_LENGTH
from tertulia.people.users.authentication.queries import get_owner

PORTION = 2000


FIELDS = (
    statements.Field("scheduled_message", ("id",), "content", "rendered"),
    statements.Field("reminder", ("id",), "note", "rendered_note", MAX_NOTE_LENGTH),
    statements.Field("profile_value", ("user_id", "field_id"), "value", "rendered"),
)
"""All of them carry `realm_id`."""
UNSENT = ("draft", "saved_snippet")
"""Texts without HTML: only who empties the account knows what the person was called."""


async def rename_in_unsent(tx: Transaction, realm_id: int, user_id: int, former: str, name: str) -> None:
    """Give somebody another name in what others keep to send, and in what the notification bot is about to say."""
    for table in UNSENT:
        for id, content in await statements.unsent_naming(tx, table, realm_id, former):
            await statements.write_unsent(tx, table, id, renamed_text(content, [former], user_id, name))
    await statements.rename_in_notices(tx, realm_id, former, name)


async def next_portion(database: Database, erasure: Erasure) -> tuple[dict[str, int], int | None]:
    """Go through the next messages; by table, how many rows were changed, and up to where; None: that was the last of them."""
    names = _names(erasure)
    done: dict[str, int] = {}
    if erasure.last_id == 0:
        done = await _rename_in_fields(database, erasure.realm_id, names)
    is_parting = erasure.messages is not Messages.KEEP
    async with database.reader() as reader:
        portion = await statements.concerned_messages(
            reader, erasure.realm_id, erasure.account_ids, [mark_of(id) for id in names], erasure.last_id, PORTION
        )
    for message_id in portion.message_ids:
        async with database.transaction() as tx:
            for table, count in (await _change(tx, message_id, names, is_parting=is_parting)).items():
                done[table] = done.get(table, 0) + count
    if is_parting:
        shared_id = await _heir(database, erasure)
        async with database.transaction() as tx:
            done |= await statements.part_from(tx, erasure.account_ids, erasure.last_id, portion.reached, shared_id)
            if portion.is_last:
                done["topic_participant"] = await statements.part_from_topics(tx, erasure.account_ids)
    return done, None if portion.is_last else portion.reached


async def next_revisions(database: Database, erasure: Erasure) -> tuple[dict[str, int], int | None]:
    """As `next_portion`, through what messages were before."""
    names = _names(erasure)
    async with database.reader() as reader:
        portion = await statements.revisions_naming(reader, [mark_of(id) for id in names], erasure.last_id, PORTION)
    for revision in portion.found:
        text, html = revision.prev_content, revision.prev_rendered
        for user_id, name in names.items():
            text, html = renamed(text, html, user_id, name)
        async with database.transaction() as tx:
            await statements.write_revision(tx, statements.Revision(revision.id, text, html))
    done = {"message_revision": len(portion.found)}
    if erasure.messages is not Messages.KEEP:
        heir = await _heir(database, erasure)
        async with database.transaction() as tx:
            reached = (erasure.last_id, portion.reached)
            done["message_revision"] += await statements.part_from_revisions(tx, erasure.account_ids, *reached, heir)
    return done, None if portion.is_last else portion.reached


async def _heir(database: Database, erasure: Erasure) -> int | None:
    if erasure.messages is not Messages.ANONYMIZE:
        return None
    return await messages.shared_account(database, erasure.realm_id)


def _names(erasure: Erasure) -> dict[int, str]:
    """Of the accounts: the last one is the person, after their bots."""
    *bots, person = erasure.account_ids
    return {**{id: name_of(id, is_bot=True) for id in bots}, person: name_of(person)}


async def _change(tx: Transaction, message_id: int, names: Mapping[int, str], *, is_parting: bool) -> dict[str, int]:
    """Rename whom a message mentions, and take reactions of theirs off it if they do not stay."""
    message = await lock_waiting(tx, message_id)
    if message is None:
        return {}
    done = {}
    text, html = message.content, message.rendered
    for user_id, name in names.items():
        text, html = renamed(text, html, user_id, name)
    if (text, html) != (message.content, message.rendered):
        await write_renamed(tx, message_id, text, html)
        caller = (await get_owner(tx, message.sender_id)).caller
        await tell_redrawn(tx, caller, msgspec.structs.replace(message, content=text), html)
        done["message"] = 1
    if is_parting and (gone := await statements.take_reactions(tx, message_id, list(names))):
        realm_id = (await get_owner(tx, message.sender_id)).caller.realm_id
        for told in await listeners_of(tx, message):
            for one in gone:
                whose = (one.user_id, one.emoji, address_of(one.user_id), names[one.user_id])
                tx.emit(realm_id, record(told.to, "reaction", Reacted("remove", message_id, *whose)))
        done["reaction"] = len(gone)
    return done


async def _rename_in_fields(database: Database, realm_id: int, names: Mapping[int, str]) -> dict[str, int]:
    done: dict[str, int] = {}
    for field in FIELDS:
        async with database.reader() as reader:
            rows = await statements.rows_naming(reader, field, realm_id, [mark_of(id) for id in names])
        for row in rows:
            text, html = row.text, row.html
            for user_id, name in names.items():
                text, html = renamed(text, html, user_id, name)
            async with database.transaction() as tx:
                await statements.write_row(tx, field, row, text, html)
            done[field.table] = done.get(field.table, 0) + 1
    return done
