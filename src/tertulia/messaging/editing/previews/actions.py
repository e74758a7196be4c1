"""Messages that were sent before a picture's thumbnail was there, be it a file or from elsewhere: they show it as soon as it is.

Nothing else of the HTML changes, and the message counts as unchanged: clients are told by an event for drawing only.
"""

from typing import Any

from tertulia.content.markup.previews import has_previews, with_previews
from tertulia.content.markup.remote import with_remote
from tertulia.events.log.record import Audience
from tertulia.files.remote_pictures.queries import find_waiting_messages, pictures_of
from tertulia.files.remote_pictures.queries import show_links as show_remote_links
from tertulia.files.uploads.links.queries import show_links
from tertulia.files.uploads.queries import files_in
from tertulia.files.uploads.showing import as_upload
from tertulia.kernel.db import Database, Transaction
from tertulia.messaging.editing import queries
from tertulia.messaging.editing.model import Moving
from tertulia.messaging.editing.previews.queries import Waiting, find_waiting, lock_waiting, write_shown
from tertulia.messaging.editing.telling import Recipients, tell_updated
from tertulia.messaging.sending.rules import is_me_message
from tertulia.people.users.authentication.queries import get_owner

PORTION = 50


async def show_pictures(database: Database) -> int:
    """Complete messages whose pictures are ready, or turned out to be none; returns how many."""
    async with database.reader() as reader:
        waiting = await find_waiting(reader, PORTION)
        waiting += await find_waiting_messages(reader, PORTION)
    for message_id in waiting:
        async with database.transaction() as tx:
            await _show(tx, message_id)
    return len(waiting)


async def _show(tx: Transaction, message_id: int) -> None:
    message = await lock_waiting(tx, message_id)
    if message is None:
        return
    files = await files_in(tx, message_id)
    html = with_previews(message.rendered, {file.path_id: as_upload(file) for file in files})
    html = with_remote(html, {one.signature: one.fetched for one in await pictures_of(tx, message_id)})
    await show_links(tx, message_id)
    await show_remote_links(tx, message_id)
    if html == message.rendered:
        return  # it has another text by now
    await write_shown(tx, message_id, html, has_image=has_previews(html))
    owner = await get_owner(tx, message.sender_id)
    event: dict[str, Any] = {
        "user_id": None,
        "rendering_only": True,
        "edit_timestamp": message.now,
        "content": message.content,
        "rendered_content": html,
        "is_me_message": is_me_message(message.content),
    }
    if message.participants is None:
        event |= {"stream_id": message.conversation_id, "stream_name": message.channel}
    await tell_updated(tx, owner.caller, await _listeners(tx, message), message.id, event)


async def _listeners(tx: Transaction, message: Waiting) -> list[Recipients]:
    one = [Moving(message.id, message.seq)]
    if message.participants is not None:
        return [Recipients(Audience(users=tuple(message.participants)), one)]
    if message.is_history_public:
        return [Recipients(Audience(channel=message.conversation_id, public=message.is_public), one)]
    hearers = await queries.hearers_of(tx, message.conversation_id, [message.seq])
    return [Recipients(Audience(users=group.users), one) for group in hearers]
