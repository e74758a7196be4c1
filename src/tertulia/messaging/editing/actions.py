"""Changing a message as PATCH /messages/{id} asks: its text, its place, or both; one event tells all of it."""

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from tertulia.content.markup import TopicLink
from tertulia.files.uploads.model import AttachmentRecord
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Database, Transaction
from tertulia.messaging.editing.content import place_of, write_text
from tertulia.messaging.editing.holding import Held, hold
from tertulia.messaging.editing.model import EditRequest, FormerMentions, Moving
from tertulia.messaging.editing.moving.actions import move_messages
from tertulia.messaging.editing.rules import check_is_sender, check_makes_sense, cleaned, what_remains
from tertulia.messaging.editing.telling import listeners, tell_updated
from tertulia.messaging.reading.access import access_message
from tertulia.messaging.sending.composing import Composer
from tertulia.messaging.sending.model import Composed
from tertulia.organization.realms.settings import settings_of


class MentionEffect(Protocol):
    """What another feature does about people whom an edit mentions besides, in its transaction. Others set off nothing."""

    async def __call__(self, tx: Transaction, caller: Caller, former: FormerMentions) -> None:
        """Write down what that sets off; `former` says whom the text mentioned before."""


class Editing(msgspec.Struct, frozen=True):
    """What it takes to change messages."""

    database: Database
    composer: Composer
    effects: Sequence[MentionEffect]


class Prepared(msgspec.Struct, frozen=True):
    """What was made of a request before any lock was taken."""

    request: EditRequest
    text: Composed | None
    topic_links: tuple[TopicLink, ...]


async def change_message(
    editing: Editing, caller: Caller, message_id: int, request: EditRequest
) -> list[AttachmentRecord]:
    """Change a message, and those that move with it, if the caller may; returns the files that no message links any more."""
    prepared = await _prepare(editing, caller, message_id, request)
    detached: list[AttachmentRecord] = []
    async with editing.database.transaction() as tx:
        held = await hold(tx, caller, message_id, prepared.request.channel_id)
        left = what_remains(prepared.request, held.message)
        event = _event(caller, held)
        if left.content is not None:
            written = await write_text(tx, caller, held, prepared.text)
            detached = written.detached
            event |= written.event
            if written.has_more:
                for record_effect in editing.effects:
                    await record_effect(tx, caller, written.former)
        if left.is_move:
            await move_messages(tx, caller, held, left, prepared.topic_links, event)
        else:
            told = await listeners(tx, held.message, held.channel, [Moving(message_id, held.message.seq)])
            await tell_updated(tx, caller, told, message_id, event)
    return detached


async def _prepare(editing: Editing, caller: Caller, message_id: int, request: EditRequest) -> Prepared:
    """Refuse what makes no sense, and render the text: names are looked up without holding anything."""
    settings = settings_of(caller)
    request = cleaned(request, settings)
    # Given back before names are looked up: whoever holds a connection does not wait for a second one.
    async with editing.database.reader() as reader:
        message = await access_message(reader, caller, message_id)
    check_makes_sense(request, message, settings)
    text = None
    if request.content is not None and request.content != message.content:
        check_is_sender(message, caller.user_id)
        text = await editing.composer.compose(caller, place_of(message), request.content)
    links = await editing.composer.links_of(caller, request.topic) if request.topic else ()
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
