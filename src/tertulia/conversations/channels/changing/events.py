"""Telling of a changed channel.

Those who saw it and still do hear what is different; whoever comes to see it hears of a new channel, and whoever no longer
does that it is gone. Subscribers are named one by one: a process that takes a queue over knows only who is in which
channel by then, and would tell those who came later of what they could not know.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from tertulia.conversations.channels.changing import queries
from tertulia.conversations.channels.changing.rules import differences
from tertulia.conversations.channels.model import ChannelRecord
from tertulia.conversations.channels.records import channel_records
from tertulia.events.log.record import Audience, record
from tertulia.kernel.compat import is_old_property
from tertulia.kernel.db import Reader, Transaction
from tertulia.organization.groups.seers import seers_of

KNOWS_ARCHIVED = "archived_channels"
MAX_NAMED = 50_000
"""An event with more names in it would not fit into a message of the log: then the channel itself is named."""


class ChannelView(msgspec.Struct, frozen=True):
    """A channel at one moment, and who sees it then."""

    channel: ChannelRecord
    to: Audience


async def view_of(reader: Reader, channel_id: int) -> ChannelView:
    """A channel as it is, and who sees it. The channel is held, so that nobody comes or goes meanwhile."""
    [channel] = await channel_records(reader, [channel_id])
    if channel.is_web_public:
        return ChannelView(channel, Audience(realm=True))
    seers = (await seers_of(reader, [channel_id]))[channel_id] if channel.invite_only else ()
    inside = await queries.listeners_inside(reader, channel_id)
    return ChannelView(channel, _audience(channel, inside, seers))


def _audience(channel: ChannelRecord, inside: Sequence[int], seers: Sequence[int]) -> Audience:
    if len(inside) > MAX_NAMED:
        return Audience(members=not channel.invite_only, channel=channel.stream_id, users=tuple(seers))
    return Audience(members=not channel.invite_only, users=tuple(sorted({*inside, *seers})))


def tell_changed(tx: Transaction, realm_id: int, before: ChannelView, after: ChannelView) -> None:
    """Everything that is different."""
    channel = after.channel
    stay = after.to if before.to == after.to else _without(after.to, _without(after.to, before.to))
    for change in differences(before.channel, channel):
        to = msgspec.structs.replace(stay, old=True) if is_old_property(change["property"]) else stay
        _tell(tx, realm_id, channel, to, {"op": "update", **change})
    if before.to != after.to:
        _tell(tx, realm_id, channel, _without(after.to, before.to), {"op": "create", "streams": [channel]})
        _tell(tx, realm_id, channel, _without(before.to, after.to), deletion(channel.stream_id))


def deletion(channel_id: int) -> dict[str, Any]:
    """The event of a channel that is gone."""
    return {"op": "delete", "stream_ids": [channel_id], "streams": [{"stream_id": channel_id}]}


def _without(these: Audience, those: Audience) -> Audience:
    return msgspec.structs.replace(these, without=those)


def _tell(tx: Transaction, realm_id: int, channel: ChannelRecord, to: Audience, event: dict[str, Any]) -> None:
    """An archived channel exists only for clients that know such channels."""
    to = msgspec.structs.replace(to, needs=KNOWS_ARCHIVED) if channel.is_archived else to
    tx.emit(realm_id, record(to, "stream", event))
