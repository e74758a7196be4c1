"""Messages that were sent before a picture's thumbnail was there, be it a file or from elsewhere, or before it was known what
the pages say that they link: they show it as soon as it is.

Nothing else of the HTML changes, and the message counts as unchanged: clients are told by an event for drawing only.
"""

from typing import Any

import structlog

from tertulia.content.markup.embeds import Embed, embeds_in, with_embeds, without_embeds
from tertulia.content.markup.previews import has_previews, with_previews
from tertulia.content.markup.remote import MAX_ADDRESS, with_remote
from tertulia.events.log.record import Audience
from tertulia.files.remote_pictures.queries import link as link_remote
from tertulia.files.remote_pictures.queries import pictures_of
from tertulia.files.remote_pictures.queries import show_links as show_remote_links
from tertulia.files.uploads.links.queries import show_links
from tertulia.files.uploads.queries import files_in
from tertulia.files.uploads.showing import as_upload
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import LOST, UNABLE, Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.fetching import State
from tertulia.messaging.editing import queries
from tertulia.messaging.editing.holding import hold
from tertulia.messaging.editing.previews.queries import Waiting, find_waiting, lock_waiting, write_shown
from tertulia.messaging.editing.rules import check_is_sender
from tertulia.messaging.editing.telling import Recipients, tell_updated
from tertulia.messaging.link_previews import queries as link_previews
from tertulia.messaging.sending.rules import is_me_message
from tertulia.people.users.authentication.queries import get_owner

log = structlog.get_logger()

PORTION = 50


async def show_pictures(database: Database) -> int:
    """Complete messages whose pictures and pages are there, or turned out to be none; returns how many."""
    async with database.reader() as reader:
        waiting = await find_waiting(reader, PORTION)
    for message_id in waiting:
        try:
            async with database.transaction() as tx:
                await _show(tx, message_id)
        except (*LOST, *UNABLE):
            raise
        except Exception:
            # Its author has a turn in each round: one that cannot be shown keeps back nobody else's.
            log.exception("a message cannot be shown with its pictures", message=message_id)
    return len(waiting)


async def remove_preview(tx: Transaction, caller: Caller, message_id: int, url: str) -> None:
    """Take the preview of a link from below a message of the caller's, for good."""
    held = await hold(tx, caller, message_id)
    check_is_sender(held.message, caller.user_id)
    message = await lock_waiting(tx, message_id)
    is_shown = url in embeds_in(held.message.rendered)
    was_waiting = len(url.encode(errors="replace")) <= MAX_ADDRESS and await link_previews.remove(tx, message_id, url)
    if message is None or not (is_shown or was_waiting):
        raise Refusal("The message has no such preview.")
    if is_shown:
        await _write(tx, caller, message, without_embeds(message.rendered, [url]))


async def _show(tx: Transaction, message_id: int) -> None:
    message = await lock_waiting(tx, message_id)
    if message is None:
        return
    owner = await get_owner(tx, message.sender_id)
    # First what is ready is marked as shown, then it is read: what becomes ready in between is shown now, and marked the next
    # time. The other way round it would be marked and never shown.
    await show_links(tx, message_id)
    files = await files_in(tx, message_id)
    html = with_previews(message.rendered, {file.path_id: as_upload(file) for file in files})
    embeds = await _embeds(tx, owner.caller.realm_id, message_id)
    await show_remote_links(tx, message_id)
    html = with_remote(html, {one.signature: one.fetched for one in await pictures_of(tx, message_id)})
    html = with_embeds(html, embeds) if embeds else html
    if html != message.rendered:  # else it has another text by now
        await _write(tx, owner.caller, message, html)


async def _embeds(tx: Transaction, realm_id: int, message_id: int) -> list[Embed]:
    """The previews that a message waited for, and that its organization still wants."""
    ready = [one for one in await link_previews.take_settled(tx, message_id) if one.state == State.READY]
    if not ready:
        return []
    pictures = [one.picture for one in ready if one.picture]
    if pictures:
        # The message shows them from now on, so they are kept. One that was forgotten meanwhile is fetched anew.
        await link_remote(tx, [(message_id, realm_id, picture) for picture in pictures])
    if not await link_previews.still_wanted(tx, realm_id):
        return []
    there = {one.signature: one.fetched.address for one in await pictures_of(tx, message_id)}
    embeds = []
    for one in ready:
        if one.picture and one.picture.signature not in there:
            await link_previews.wait_again(tx, message_id, one.id)
        else:
            embeds.append(Embed(one.url, one.title, one.description, there.get(one.picture_signature, "")))
    return embeds


async def _write(tx: Transaction, caller: Caller, message: Waiting, html: str) -> None:
    await write_shown(tx, message.id, html, has_image=has_previews(html))
    await tell_redrawn(tx, caller, message, html)


async def tell_redrawn(tx: Transaction, caller: Caller, message: Waiting, html: str) -> None:
    """The message looks different, and counts as unchanged."""
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
    await tell_updated(tx, caller, await listeners_of(tx, message), message.id, event)


async def listeners_of(tx: Transaction, message: Waiting) -> list[Recipients]:
    """Who hears of what becomes of a message that is held."""
    one = [message.id]
    if message.participants is not None:
        return [Recipients(Audience(users=tuple(message.participants)), one)]
    if message.is_history_public:
        return [Recipients(Audience(channel=message.conversation_id, public=message.is_public), one)]
    hearers = await queries.hearers_of(tx, message.conversation_id, message.seq, message.seq)
    return [Recipients(Audience(users=tuple(group.users)), one) for group in hearers]
