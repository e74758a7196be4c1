"""Moving messages: planned, done, told to those who hear of it, and said where they were and where they are now.

Inside a channel a whole topic that goes to a free name is renamed, one row; anything else changes the topic of the
messages. To another channel they go one by one, with new numbers, and what people had read of them goes along.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from tertulia.content.markup import TopicLink
from tertulia.conversations.channels.rules import name_key_of
from tertulia.conversations.read_state.marking.queries import change_places
from tertulia.conversations.topics.model import Topic
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.messaging.editing import deletion, queries
from tertulia.messaging.editing.holding import Held
from tertulia.messaging.editing.model import EditRequest, Moving
from tertulia.messaging.editing.moving import notices, policies
from tertulia.messaging.editing.moving import queries as statements
from tertulia.messaging.editing.moving.planning import Plan, plan_move
from tertulia.messaging.editing.moving.queries import TopicRow
from tertulia.messaging.editing.received import MAX_LISTED
from tertulia.messaging.editing.telling import listeners, losing, tell_deleted, tell_first_messages, tell_updated
from tertulia.messaging.pins.queries import follow_messages
from tertulia.messaging.reading.access import access_message
from tertulia.messaging.sending.participants import add_participants, forget_participants, participants_by


class Moved(msgspec.Struct, frozen=True):
    """What has moved: each message with its old number, and with the new one."""

    before: list[Moving]
    after: list[Moving]


async def move_messages(
    tx: Transaction,
    caller: Caller,
    held: Held,
    request: EditRequest,
    links: Sequence[TopicLink],
    event: dict[str, Any],
) -> None:
    """Move what the request asks for, if the caller may. `event`: what there is to tell of the message besides."""
    plan = await plan_move(tx, caller, held, request)
    channels = [plan.source, plan.target] if plan.is_elsewhere else []
    first = await queries.first_message_ids(tx, [channel.id for channel in channels]) if channels else {}
    undone = await notices.find_undone(tx, caller, plan) if plan.is_resolution else None
    moved = await _move(tx, caller, plan)
    if plan.is_elsewhere:
        told, lost = await losing(tx, plan.message, plan.source, plan.target, moved.before)
        await tell_deleted(tx, caller, lost, plan.message)
        await statements.forget_marks(tx, [one.id for one in moved.after], plan.target.id)
    else:
        told = await listeners(tx, plan.message, plan.source, moved.after)
    await tell_updated(tx, caller, told, plan.message.id, event | _event(plan, request, links))
    if channels:
        await tell_first_messages(tx, caller, channels, first)
    if not plan.is_resolution:
        await notices.tell_moved(tx, caller, plan, moved.after, request)
    elif undone is None:
        await notices.tell_resolved(tx, caller, plan)
    else:
        await deletion.remove(tx, caller, await access_message(tx, caller, undone.id), plan.target, [undone])


def _event(plan: Plan, request: EditRequest, links: Sequence[TopicLink]) -> dict[str, Any]:
    event: dict[str, Any] = {"propagate_mode": request.mode, "orig_subject": plan.old.name}
    if plan.change.topic is not None:
        event |= {"subject": plan.topic, "topic_links": links}
    if plan.is_elsewhere:
        event["new_stream_id"] = plan.target.id
    return event


async def _move(tx: Transaction, caller: Caller, plan: Plan) -> Moved:
    await change_places(tx, caller.realm_id, [plan.source.id, plan.target.id])
    if plan.is_rename:
        return await _rename(tx, caller, plan)
    messages = await statements.selected(tx, plan.selection)
    target = await statements.hold_topic(tx, plan.target.id, plan.topic, name_key_of(plan.topic))
    await statements.hold_topics(tx, sorted({plan.old.id, target.id}))
    ids = [one.id for one in messages]
    await statements.write_revisions(tx, ids, plan.change)
    if plan.is_elsewhere:
        after = await _renumber(tx, plan, messages, target)
    else:
        await statements.move_to_topic(tx, ids, target.id)
        after = messages
    await follow_messages(tx, ids)
    await _settle_topics(tx, caller, plan, ids, target)
    return Moved(messages, after)


async def _rename(tx: Transaction, caller: Caller, plan: Plan) -> Moved:
    """One row, and the newest messages for those who listen."""
    key = name_key_of(plan.topic)
    target = await statements.hold_topic(tx, plan.target.id, plan.topic, key)
    await statements.hold_topics(tx, sorted({plan.old.id, target.id}))
    new = Topic(plan.old.id, plan.target.id, plan.topic)
    chosen: list[statements.PolicyPair] = []
    if target.id != plan.old.id:
        # The name was free, or somebody had decided about it before there was such a topic.
        pairs = await statements.policies_of(tx, target.id, plan.old.id, plan.target.id)
        chosen = [pair for pair in pairs if pair.policy and not pair.other]
        await policies.clear(tx, caller, Topic(target.id, plan.target.id, target.name), pairs)
        await statements.delete_topics(tx, [target.id])
    await statements.rename_topic(tx, plan.old.id, plan.topic, key, plan.change)
    await policies.tell_renamed(tx, caller, plan.old, new)
    await policies.restore(tx, caller, new, chosen)
    history = plan.selection.history
    newest = await queries.newest_of_topic(tx, plan.old.id, history, MAX_LISTED)
    return Moved(newest, newest)


async def _renumber(tx: Transaction, plan: Plan, messages: list[Moving], topic: TopicRow) -> list[Moving]:
    ids = [one.id for one in messages]
    numbers = await statements.move_to_channel(tx, ids, plan.target.id, topic.id)
    after = [Moving(one.id, numbers[one.id]) for one in messages]
    old_seqs, new_seqs = [one.seq for one in messages], [one.seq for one in after]
    await statements.carry_read_state(tx, plan.source.id, plan.target.id, old_seqs, new_seqs)
    return after


async def _settle_topics(tx: Transaction, caller: Caller, plan: Plan, ids: list[int], target: TopicRow) -> None:
    """Who takes part, which message is the newest, what people decided: right again on both sides."""
    people = await participants_by(tx, ids)
    await add_participants(tx, target.id, people)
    await forget_participants(tx, plan.old.id, people)
    await queries.refresh_topics(tx, [plan.old.id, target.id])
    if plan.is_whole:
        new = Topic(target.id, plan.target.id, target.name)
        await policies.carry(tx, caller, plan.old, new, merges=target.has_messages)
        await statements.delete_topics(tx, [plan.old.id])
