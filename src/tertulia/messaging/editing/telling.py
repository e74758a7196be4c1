"""Who is told of changed messages: in a channel with protected history not every subscriber knows them all."""

import asyncio
from collections.abc import Collection, Sequence
from typing import Any

import msgspec

from tertulia.conversations.channels.model import Channel
from tertulia.events.log.record import Audience, record
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.messaging.editing import queries
from tertulia.messaging.editing.events import deleted, updated
from tertulia.messaging.editing.flags import Flagged, flags_by_reader
from tertulia.messaging.editing.model import Moving
from tertulia.messaging.editing.moving import queries as statements
from tertulia.messaging.editing.received import TURN, Parts, newest
from tertulia.messaging.reading.access import Reached
from tertulia.organization.realms.settings import settings_of


class Recipients(msgspec.Struct, frozen=True):
    """An audience, and the messages it may know of: the newest, ascending."""

    to: Audience
    ids: Sequence[int]
    is_outside: bool = False
    """They do not read the channel where the messages were: they are not told what it and the topic are called by now."""


async def listeners(
    tx: Transaction, message: Reached, channel: Channel | None, messages: Sequence[Moving]
) -> list[Recipients]:
    """Who hears of changes to these messages of one conversation."""
    ids = newest(messages)
    if channel is None:
        return [Recipients(Audience(users=tuple(message.participants or ())), ids)]
    if channel.history_public_to_subscribers:
        return [Recipients(Audience(channel=channel.id, public=channel.is_public), ids)]
    seqs = [one.seq for one in messages]
    parts = Parts(messages)
    for place, hearers in enumerate(await queries.hearers_of(tx, channel.id, min(seqs), max(seqs))):
        parts.add(hearers.users, hearers.received)
        await _turn(place)
    found = []
    for place, (users, known) in enumerate(parts.by_users()):
        found.append(Recipients(Audience(users=tuple(sorted(users))), known))
        await _turn(place)
    return found


async def _turn(place: int) -> None:
    """There may be as many as the channel has subscribers, each with thousands of messages: others have their turn."""
    if place % TURN == TURN - 1:
        await asyncio.sleep(0)


async def losing(
    tx: Transaction, message: Reached, source: Channel, target: Channel, messages: Sequence[Moving]
) -> tuple[list[Recipients], list[Recipients]]:
    """Who hears that messages went to another channel, and to whom they are gone with it. `messages`: as they were."""
    known = await statements.acquainted(tx, source.id, target.id, [one.id for one in messages])
    outside = {one.user_id for one in known if not one.knows_source}
    kept = [one.user_id for one in known if one.keeps]
    lost = [one.user_id for one in known if not one.keeps]
    ids = newest(messages)
    # Whoever listens to all public channels is in neither list, and hears of public ones only.
    is_open = target.is_public or not source.is_public
    if is_open and not lost and source.history_public_to_subscribers:
        inside = await statements.subscribers_not_in(tx, target.id, source.id)
        there = Audience(channel=source.id, public=source.is_public)
        return [Recipients(there, ids), *_split(inside, outside, ids)], []
    if source.is_public:
        return _leaving_public(source, target, ids, (kept, lost), outside)
    gone = _to([user for user in lost if user in outside], ids, is_outside=True)
    inside = [user for user in lost if user not in outside]
    if source.history_public_to_subscribers:
        return _split(kept, outside, ids), [*gone, *_to(inside, ids)]
    leavers = set(inside)
    for knowing in await listeners(tx, message, source, messages):
        gone += _to([user for user in knowing.to.users if user in leavers], knowing.ids)
    return _split(kept, outside, ids), gone


def _leaving_public(
    source: Channel,
    target: Channel,
    ids: Sequence[int],
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
        told = [Recipients(staying, ids), *_to(strangers, ids, is_outside=True)]
        return told, _split(lost, outside, ids)
    inside = [user for user in lost if user not in outside]
    staying = Audience(users=tuple(kept))
    leaving = Recipients(msgspec.structs.replace(everybody, users=tuple(inside), without=staying), ids)
    gone = _to([user for user in lost if user in outside], ids, is_outside=True)
    return _split(kept, outside, ids), [leaving, *gone]


def _split(users: Sequence[int], outside: Collection[int], ids: Sequence[int]) -> list[Recipients]:
    inside = _to([user for user in users if user not in outside], ids)
    return inside + _to([user for user in users if user in outside], ids, is_outside=True)


def _to(users: Sequence[int], ids: Sequence[int], *, is_outside: bool = False) -> list[Recipients]:
    return [Recipients(Audience(users=tuple(users)), ids, is_outside)] if users else []


async def tell_updated(
    tx: Transaction, caller: Caller, told: Sequence[Recipients], message_id: int, event: dict[str, Any]
) -> None:
    """Emit `update_message`: the event's keys, and of its messages those that each audience knows."""
    settings = settings_of(caller)
    tx.allow_many_events()  # where history is protected, readers know different parts of it
    flagged = await flags_by_reader(tx, message_id)
    flags = {user: group.flags for group in flagged for user in group.users} if len(told) > 1 else {}
    for place, one in enumerate(told):
        ids = one.ids
        own: dict[str, Any] = {"message_id": message_id if message_id in ids else ids[-1], "message_ids": ids}
        own |= {"stream_name": ""} if one.is_outside else {}
        tx.emit(caller.realm_id, updated(one.to, event | own, _of(one.to, flagged, flags), settings))
        await _turn(place)


def _of(to: Audience, flagged: Sequence[Flagged], flags: dict[int, tuple[str, ...]]) -> Sequence[Flagged]:
    """The flags of those who hear it: each event with those of all others would grow by the square of the readers."""
    if to.channel is not None or not flags:
        return flagged
    own: dict[tuple[str, ...], list[int]] = {}
    for user in to.users:
        if user in flags:
            own.setdefault(flags[user], []).append(user)
    return [Flagged(known, tuple(users)) for known, users in own.items()]


async def tell_markers_deleted(
    tx: Transaction, caller: Caller, message: Reached, channel: Channel, messages: Sequence[Moving]
) -> None:
    """Whoever has a mark on a deleted message is told, wherever they are: not what the topic is called by now."""
    for may_read, users in (await queries.markers_outside(tx, channel.id, [one.id for one in messages])).items():
        await tell_deleted(tx, caller, _to(users, newest(messages), is_outside=not may_read), message)


async def tell_deleted(tx: Transaction, caller: Caller, told: Sequence[Recipients], message: Reached) -> None:
    """Emit `delete_message`, about messages that are or were where this one is."""
    settings = settings_of(caller)
    tx.allow_many_events()  # as in tell_updated
    for place, one in enumerate(told):
        known = msgspec.structs.replace(message, topic="") if one.is_outside else message
        for told_record in deleted(one.to, known, one.ids, settings):
            tx.emit(caller.realm_id, told_record)
        await _turn(place)


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
