"""HTML from before readers were private (decision 0109): the worker goes through it once, a portion at a time.

It is changed where it stands and not rendered from the text: names in it may mean somebody else by now. Nobody is told; the
pictures that a message shows are fetched like those of a new one, and then its readers hear of it. New messages come first:
while many pictures wait, nothing is added to them. Doing it twice changes nothing: the cursor moves when a portion is done.
"""

from tertulia.content.markup.previews import has_previews
from tertulia.content.markup.remote import made_private
from tertulia.files.remote_pictures.queries import count_waiting
from tertulia.files.remote_pictures.queries import link as link_remote
from tertulia.kernel.db import Database, Transaction
from tertulia.messaging.editing.previews.queries import lock_waiting, write_shown
from tertulia.messaging.editing.renewing import queries

PORTION = 2000
MOST_OLD = 20
"""Changed of a portion; with 24 pictures each they are fewer than a realm may have waiting."""
MOST_WAITING = 200
MOST_PORTIONS = 50
"""In one go, so that a worker that is stopped has not far to the end of it."""


async def renew_rendered(database: Database) -> int:
    """Make old HTML private, as far as pictures can be fetched meanwhile; returns how many texts were changed."""
    count = 0
    for part in queries.PARTS:
        for _ in range(MOST_PORTIONS):
            async with database.reader() as reader:
                cursor = await queries.find_cursor(reader, part)
                if cursor is None or await count_waiting(reader, MOST_WAITING) >= MOST_WAITING:
                    break
                portion = await queries.find_old(reader, part, cursor, PORTION, MOST_OLD)
            for row in portion.old:
                async with database.transaction() as tx:
                    count += await _renew(tx, row)
            async with database.transaction() as tx:
                await queries.move_cursor(tx, part, cursor, portion.reached)
    return count


async def _renew(tx: Transaction, row: queries.Old) -> bool:
    message = await lock_waiting(tx, row.message_id)
    if message is None:
        return False
    before = message.rendered if row.revision_id is None else await queries.get_rendered(tx, row.revision_id)
    html, pictures = made_private(before, row.realm_id, row.picture_key)
    if html == before:
        return False
    if row.revision_id is None:
        await write_shown(tx, message.id, html, has_image=has_previews(html))
    else:
        await queries.write_rendered(tx, row.revision_id, html)
    if pictures:
        await link_remote(tx, [(message.id, row.realm_id, one) for one in pictures], is_new=False)
    return True
