"""Changing a message as PATCH /messages/{id} asks: its text, its place, or both; one event tells all of it."""

from typing import Any

import msgspec

from tertulia.content.markup import TopicLink
from tertulia.files.uploads.model import AttachmentRecord
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Database
from tertulia.messaging.editing.content import place_of, write_text
from tertulia.messaging.editing.holding import Held, hold
from tertulia.messaging.editing.model import EditRequest, Moving
from tertulia.messaging.editing.moving.actions import move_messages
from tertulia.messaging.editing.rules import check_is_sender, check_makes_sense, cleaned, what_remains
from tertulia.messaging.editing.telling import listeners, tell_updated
from tertulia.messaging.reading.access import access_message
from tertulia.messaging.sending.composing import Composer
from tertulia.messaging.sending.model import Composed
from tertulia.organization.realms.settings import settings_of


class Prepared(msgspec.Struct, frozen=True):
    """What was made of a request before any lock was taken."""

    request: EditRequest
    text: Composed | None
    topic_links: tuple[TopicLink, ...]


async def change_message(
    database: Database, composer: Composer, caller: Caller, message_id: int, request: EditRequest
) -> list[AttachmentRecord]:
    """Change a message, and those that move with it, if the caller may; returns the files that no message links any more."""
    prepared = await _prepare(database, composer, caller, message_id, request)
    detached: list[AttachmentRecord] = []
    async with database.transaction() as tx:
        held = await hold(tx, caller, message_id, prepared.request.channel_id)
        left = what_remains(prepared.request, held.message)
        event = _event(caller, held)
        if left.content is not None:
            detached, written = await write_text(tx, caller, held, prepared.text)
            event |= written
        if left.is_move:
            await move_messages(tx, caller, held, left, prepared.topic_links, event)
        else:
            told = await listeners(tx, held.message, held.channel, [Moving(message_id, held.message.seq)])
            await tell_updated(tx, caller, told, message_id, event)
    return detached


async def _prepare(
    database: Database, composer: Composer, caller: Caller, message_id: int, request: EditRequest
) -> Prepared:
    """Refuse what makes no sense, and render the text: names are looked up without holding anything."""
    settings = settings_of(caller)
    request = cleaned(request, settings)
    # Given back before names are looked up: whoever holds a connection does not wait for a second one.
    async with database.reader() as reader:
        message = await access_message(reader, caller, message_id)
    check_makes_sense(request, message, settings)
    text = None
    if request.content is not None and request.content != message.content:
        check_is_sender(message, caller.user_id)
        text = await composer.compose(caller, place_of(message), request.content)
    links = await composer.links_of(caller, request.topic) if request.topic else ()
    return Prepared(request, text, links)


def _event(caller: Caller, held: Held) -> dict[str, Any]:
    """What `update_message` says whatever has changed."""
    event: dict[str, Any] = {
        "user_id": caller.user_id,
        "rendering_only": False,
        "edit_timestamp": round(held.rights.now.timestamp()),
    }
    if held.channel is not None:
        event |= {"stream_id": held.channel.id, "stream_name": held.message.channel}
    return event
