"""Who is told of changed messages: in a channel with protected history not every subscriber knows them all."""

from collections.abc import Sequence
from typing import Any

import msgspec

from tertulia.channels.model import Channel
from tertulia.edits import queries, statements
from tertulia.edits.events import deleted, updated
from tertulia.edits.flags import flags_by_reader
from tertulia.edits.model import Moving
from tertulia.events.ranges import SeqSet
from tertulia.events.record import Audience, record
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.messages.access import Reached
from tertulia.realms.settings import decode_settings


class Told(msgspec.Struct, frozen=True):
    """An audience, and the messages it may know of."""

    to: Audience
    messages: Sequence[Moving]


async def listeners(
    tx: Transaction, message: Reached, channel: Channel | None, messages: Sequence[Moving]
) -> list[Told]:
    """Who hears of changes to these messages of one conversation."""
    if channel is None:
        return [Told(Audience(users=tuple(message.participants or ())), messages)]
    if channel.history_public_to_subscribers:
        return [Told(Audience(channel=channel.id, public=channel.is_public), messages)]
    found = []
    for hearers in await queries.hearers_of(tx, channel.id, [one.seq for one in messages]):
        received = SeqSet(hearers.seqs)
        found.append(Told(Audience(users=hearers.users), [one for one in messages if one.seq in received]))
    return found


async def losing(
    tx: Transaction, message: Reached, source: Channel, target: Channel, messages: Sequence[Moving]
) -> tuple[list[Told], list[Told]]:
    """Who hears that messages went to another channel, and to whom they are gone with it. `messages`: as they were."""
    lost, kept = await statements.losing_and_keeping(tx, source.id, target.id, [one.id for one in messages])
    if not lost and source.history_public_to_subscribers:
        inside = await statements.subscribers_not_in(tx, target.id, source.id)
        there = Audience(channel=source.id, public=source.is_public)
        return [Told(there, messages), *_to(inside, messages)], []
    told, gone = _to(kept, messages), []
    for knowing in await listeners(tx, message, source, messages):
        users = lost if source.history_public_to_subscribers else sorted(set(lost) & set(knowing.to.users))
        gone += _to(users, knowing.messages)
    return told, gone


def _to(users: Sequence[int], messages: Sequence[Moving]) -> list[Told]:
    return [Told(Audience(users=tuple(users)), messages)] if users else []


async def tell_updated(
    tx: Transaction, caller: Caller, told: Sequence[Told], message_id: int, event: dict[str, Any]
) -> None:
    """Emit `update_message`: the event's keys, and of its messages those that each audience knows."""
    settings = decode_settings(caller.realm_settings)
    flagged = await flags_by_reader(tx, message_id)
    for one in told:
        ids = sorted(message.id for message in one.messages)[-queries.MAX_LISTED :]
        own = {"message_id": message_id if message_id in ids else ids[-1], "message_ids": ids}
        tx.emit(caller.realm_id, updated(one.to, event | own, flagged, settings))


async def tell_markers_deleted(
    tx: Transaction, caller: Caller, message: Reached, channel: Channel, messages: Sequence[Moving]
) -> None:
    """Whoever has a mark on a deleted message is told, wherever they are: not what the topic is called by now."""
    for may_read, users in (await queries.markers_outside(tx, channel.id, [one.id for one in messages])).items():
        known = message if may_read else msgspec.structs.replace(message, topic="")
        tell_deleted(tx, caller, _to(users, messages), known)


def tell_deleted(tx: Transaction, caller: Caller, told: Sequence[Told], message: Reached) -> None:
    """Emit `delete_message`, about messages that are or were where this one is."""
    settings = decode_settings(caller.realm_settings)
    for one in told:
        ids = sorted(moving.id for moving in one.messages)[-queries.MAX_LISTED :]
        for told_record in deleted(one.to, message, ids, settings):
            tx.emit(caller.realm_id, told_record)


async def tell_first_messages(
    tx: Transaction, caller: Caller, channels: Sequence[Channel], before: dict[int, int | None]
) -> None:
    """Emit a channel's new oldest message, where it is another one now."""
    after = await queries.first_message_ids(tx, [channel.id for channel in channels])
    for channel in channels:
        if after[channel.id] != before[channel.id]:
            changed = {"property": "first_message_id", "value": after[channel.id]}
            event = {"op": "update", "stream_id": channel.id, "name": channel.name, **changed}
            to = Audience(members=channel.is_public, channel=channel.id)
            tx.emit(caller.realm_id, record(to, "stream", event))
