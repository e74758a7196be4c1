"""Who is told of changed messages: in a channel with protected history not every subscriber knows them all."""

from collections.abc import Collection, Sequence
from typing import Any

import msgspec

from tertulia.conversations.channels.model import Channel
from tertulia.events.log.ranges import SeqSet
from tertulia.events.log.record import Audience, record
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.messaging.editing import queries
from tertulia.messaging.editing.events import deleted, updated
from tertulia.messaging.editing.flags import flags_by_reader
from tertulia.messaging.editing.model import Moving
from tertulia.messaging.editing.moving import queries as statements
from tertulia.messaging.reading.access import Reached
from tertulia.organization.realms.settings import settings_of


class Recipients(msgspec.Struct, frozen=True):
    """An audience, and the messages it may know of."""

    to: Audience
    messages: Sequence[Moving]
    is_outside: bool = False
    """They do not read the channel where the messages were: they are not told what it and the topic are called by now."""


async def listeners(
    tx: Transaction, message: Reached, channel: Channel | None, messages: Sequence[Moving]
) -> list[Recipients]:
    """Who hears of changes to these messages of one conversation."""
    if channel is None:
        return [Recipients(Audience(users=tuple(message.participants or ())), messages)]
    if channel.history_public_to_subscribers:
        return [Recipients(Audience(channel=channel.id, public=channel.is_public), messages)]
    found = []
    for hearers in await queries.hearers_of(tx, channel.id, [one.seq for one in messages]):
        received = SeqSet(hearers.seqs)
        found.append(Recipients(Audience(users=hearers.users), [one for one in messages if one.seq in received]))
    return found


async def losing(
    tx: Transaction, message: Reached, source: Channel, target: Channel, messages: Sequence[Moving]
) -> tuple[list[Recipients], list[Recipients]]:
    """Who hears that messages went to another channel, and to whom they are gone with it. `messages`: as they were."""
    known = await statements.acquainted(tx, source.id, target.id, [one.id for one in messages])
    outside = {one.user_id for one in known if not one.knows_source}
    kept = [one.user_id for one in known if one.keeps]
    lost = [one.user_id for one in known if not one.keeps]
    # Whoever listens to all public channels is in neither list, and hears of public ones only.
    is_open = target.is_public or not source.is_public
    if is_open and not lost and source.history_public_to_subscribers:
        inside = await statements.subscribers_not_in(tx, target.id, source.id)
        there = Audience(channel=source.id, public=source.is_public)
        return [Recipients(there, messages), *_split(inside, outside, messages)], []
    if source.is_public:
        return _leaving_public(source, target, messages, (kept, lost), outside)
    gone = _to([user for user in lost if user in outside], messages, is_outside=True)
    for knowing in await listeners(tx, message, source, messages):
        losers = lost if source.history_public_to_subscribers else sorted(set(lost) & set(knowing.to.users))
        gone += _to([user for user in losers if user not in outside], knowing.messages)
    return _split(kept, outside, messages), gone


def _leaving_public(
    source: Channel,
    target: Channel,
    messages: Sequence[Moving],
    known: tuple[Sequence[int], Sequence[int]],
    outside: Collection[int],
) -> tuple[list[Recipients], list[Recipients]]:
    """Whoever listens to all public channels is told too: of a public target where messages went, else that they are gone."""
    kept, lost = known
    everybody = Audience(channel=source.id, public=True)
    if target.is_public:
        # Whoever reaches only the target does not learn what the source is called.
        strangers = [user for user in kept if user in outside]
        knowing = tuple(user for user in kept if user not in outside)
        staying = msgspec.structs.replace(everybody, users=knowing, without=Audience(users=(*lost, *strangers)))
        told = [Recipients(staying, messages), *_to(strangers, messages, is_outside=True)]
        return told, _split(lost, outside, messages)
    inside = [user for user in lost if user not in outside]
    staying = Audience(users=tuple(kept))
    leaving = Recipients(msgspec.structs.replace(everybody, users=tuple(inside), without=staying), messages)
    gone = _to([user for user in lost if user in outside], messages, is_outside=True)
    return _split(kept, outside, messages), [leaving, *gone]


def _split(users: Sequence[int], outside: Collection[int], messages: Sequence[Moving]) -> list[Recipients]:
    inside = _to([user for user in users if user not in outside], messages)
    return inside + _to([user for user in users if user in outside], messages, is_outside=True)


def _to(users: Sequence[int], messages: Sequence[Moving], *, is_outside: bool = False) -> list[Recipients]:
    return [Recipients(Audience(users=tuple(users)), messages, is_outside)] if users else []


async def tell_updated(
    tx: Transaction, caller: Caller, told: Sequence[Recipients], message_id: int, event: dict[str, Any]
) -> None:
    """Emit `update_message`: the event's keys, and of its messages those that each audience knows."""
    settings = settings_of(caller)
    tx.allow_many_events()  # where history is protected, readers know different parts of it
    flagged = await flags_by_reader(tx, message_id)
    for one in told:
        ids = sorted(message.id for message in one.messages)[-queries.MAX_LISTED :]
        own: dict[str, Any] = {"message_id": message_id if message_id in ids else ids[-1], "message_ids": ids}
        own |= {"stream_name": ""} if one.is_outside else {}
        tx.emit(caller.realm_id, updated(one.to, event | own, flagged, settings))


async def tell_markers_deleted(
    tx: Transaction, caller: Caller, message: Reached, channel: Channel, messages: Sequence[Moving]
) -> None:
    """Whoever has a mark on a deleted message is told, wherever they are: not what the topic is called by now."""
    for may_read, users in (await queries.markers_outside(tx, channel.id, [one.id for one in messages])).items():
        tell_deleted(tx, caller, _to(users, messages, is_outside=not may_read), message)


def tell_deleted(tx: Transaction, caller: Caller, told: Sequence[Recipients], message: Reached) -> None:
    """Emit `delete_message`, about messages that are or were where this one is."""
    settings = settings_of(caller)
    tx.allow_many_events()  # as in tell_updated
    for one in told:
        ids = sorted(moving.id for moving in one.messages)[-queries.MAX_LISTED :]
        known = msgspec.structs.replace(message, topic="") if one.is_outside else message
        for told_record in deleted(one.to, known, ids, settings):
            tx.emit(caller.realm_id, told_record)


async def tell_first_messages(
    tx: Transaction, caller: Caller, channels: Sequence[Channel], before: dict[int, int | None]
) -> None:
    """Emit a channel's new oldest message, where it changed."""
    after = await queries.first_message_ids(tx, [channel.id for channel in channels])
    for channel in channels:
        if after[channel.id] != before[channel.id]:
            changed = {"property": "first_message_id", "value": after[channel.id]}
            event = {"op": "update", "stream_id": channel.id, "name": channel.name, **changed}
            to = Audience(members=channel.is_public, channel=channel.id)
            tx.emit(caller.realm_id, record(to, "stream", event))
