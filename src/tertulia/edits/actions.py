"""Changing a message as PATCH /messages/{id} asks: its text, its place, or both; one event tells all of it."""

from collections.abc import Sequence
from typing import Any

import msgspec

from tertulia.edits import content, deletion, moves, notices, queries, statements
from tertulia.edits.holding import hold
from tertulia.edits.model import Moving, Rights, Wish
from tertulia.edits.moves import Moved, Plan
from tertulia.edits.rights import rights_over
from tertulia.edits.rules import (
    check_expectation,
    check_is_sender,
    check_makes_sense,
    check_may_edit,
    check_something_remains,
    cleaned,
    what_remains,
)
from tertulia.edits.telling import listeners, losing, tell_deleted, tell_first_messages, tell_updated
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.errors import server_not_ready
from tertulia.markup import TopicLink
from tertulia.messages.access import Reached, access_message
from tertulia.messages.composing import Composed, Composer
from tertulia.realms.settings import decode_settings
from tertulia.uploads.model import AttachmentRecord


class Prepared(msgspec.Struct, frozen=True):
    """What was made of a wish before any lock was taken."""

    wish: Wish
    text: Composed | None
    topic_links: tuple[TopicLink, ...]


async def change_message(
    database: Database, composer: Composer, caller: Caller, message_id: int, wish: Wish
) -> list[AttachmentRecord]:
    """Change a message, and those that move with it, if the caller may; the files that no message links any more."""
    prepared = await _prepare(database, composer, caller, message_id, wish)
    async with database.transaction() as tx:
        return await _change(tx, caller, message_id, prepared)


async def _prepare(database: Database, composer: Composer, caller: Caller, message_id: int, wish: Wish) -> Prepared:
    settings = decode_settings(caller.realm_settings)
    wish = cleaned(wish, settings)
    # Given back before names are looked up: whoever holds a connection does not wait for a second one.
    async with database.reader() as reader:
        message = await access_message(reader, caller, message_id)
    check_makes_sense(wish, message, settings)
    text = None
    if wish.content is not None and wish.content != message.content:
        check_is_sender(message, caller.user_id)
        text = await content.compose(composer, caller, message, wish.content)
    links = await composer.links_of(caller, wish.topic) if wish.topic else ()
    return Prepared(wish, text, links)


async def _change(tx: Transaction, caller: Caller, message_id: int, prepared: Prepared) -> list[AttachmentRecord]:
    settings = decode_settings(caller.realm_settings)
    message, channel, target = await hold(tx, caller, message_id, prepared.wish.channel_id)
    wish = what_remains(prepared.wish, message)
    check_something_remains(wish)
    check_expectation(wish, message)
    rights = await rights_over(tx, caller, message.sender_id, message.conversation_id)
    if wish.content is not None:
        check_may_edit(message, caller.user_id, rights.now, settings)
    plan = None
    if wish.is_move and channel is not None:
        plan = await moves.plan(tx, caller, message, channel, target, wish, rights)
    event = _event(caller, message, rights)
    detached: list[AttachmentRecord] = []
    if wish.content is not None:
        if prepared.text is None:
            raise server_not_ready("The message has just been changed. Please try again.")
        detached, written = await content.write(tx, caller, message, prepared.text, rights)
        event |= written
    if plan is None:
        told = await listeners(tx, message, channel, [Moving(message.id, message.seq)])
        await tell_updated(tx, caller, told, message.id, event)
    else:
        await _move(tx, caller, plan, wish, event | _move_event(plan, wish, prepared.topic_links))
    return detached


def _event(caller: Caller, message: Reached, rights: Rights) -> dict[str, Any]:
    event: dict[str, Any] = {
        "user_id": caller.user_id,
        "rendering_only": False,
        "edit_timestamp": round(rights.now.timestamp()),
    }
    if message.participants is None:
        event |= {"stream_id": message.conversation_id, "stream_name": message.channel}
    return event


async def _move(tx: Transaction, caller: Caller, plan: Plan, wish: Wish, event: dict[str, Any]) -> None:
    channels = [plan.source, plan.target] if plan.is_elsewhere else []
    first = await queries.first_message_ids(tx, [channel.id for channel in channels]) if channels else {}
    undone = await notices.find_undone(tx, plan) if plan.is_resolution else None
    moved = await moves.move(tx, caller, plan)
    if plan.is_elsewhere:
        told, lost = await losing(tx, plan.message, plan.source, plan.target, moved.before)
        tell_deleted(tx, caller, lost, plan.message)
        await statements.forget_marks(tx, [one.id for one in moved.after], plan.target.id)
    else:
        told = await listeners(tx, plan.message, plan.source, moved.after)
    await tell_updated(tx, caller, told, plan.message.id, event)
    if channels:
        await tell_first_messages(tx, caller, channels, first)
    await _say(tx, caller, plan, moved, wish, undone)


def _move_event(plan: Plan, wish: Wish, links: Sequence[TopicLink]) -> dict[str, Any]:
    event: dict[str, Any] = {"propagate_mode": wish.mode, "orig_subject": plan.old.name}
    if plan.change.topic is not None:
        event |= {"subject": plan.topic, "topic_links": links}
    if plan.is_elsewhere:
        event["new_stream_id"] = plan.target.id
    return event


async def _say(tx: Transaction, caller: Caller, plan: Plan, moved: Moved, wish: Wish, undone: Moving | None) -> None:
    if not plan.is_resolution:
        await notices.tell_moved(tx, caller, plan, moved, wish)
    elif undone is None:
        await notices.tell_resolved(tx, caller, plan)
    else:
        await deletion.remove(tx, caller, await access_message(tx, caller, undone.id), plan.target, [undone])
