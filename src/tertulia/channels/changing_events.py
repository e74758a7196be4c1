"""Telling of a changed channel.

Those who saw it and still do hear what is different; whoever comes to see it hears of a new channel, and whoever no longer
does that it is gone. Subscribers are named one by one: a process that takes a queue over knows only who is in which
channel by then, and would tell those who came later of what they could not know.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from tertulia.channels import changing_queries as queries
from tertulia.channels.changing_rules import differences
from tertulia.channels.model import ChannelRecord
from tertulia.channels.records import channel_records
from tertulia.compat import is_old_property
from tertulia.events.record import Audience, record
from tertulia.groups.sight import seers_of
from tertulia.kernel.db import Reader, Transaction

KNOWS_ARCHIVED = "archived_channels"
MAX_NAMED = 50_000
"""An event with more names in it would not fit into a message of the log: then the channel itself is named."""


class View(msgspec.Struct, frozen=True):
    """A channel at one moment, and who sees it then."""

    channel: ChannelRecord
    to: Audience


async def view_of(reader: Reader, channel_id: int) -> View:
    """A channel as it is, and who sees it. The channel is held, so that nobody comes or goes meanwhile."""
    [channel] = await channel_records(reader, [channel_id])
    if channel.is_web_public:
        return View(channel, Audience(realm=True))
    seers = (await seers_of(reader, [channel_id]))[channel_id] if channel.invite_only else ()
    inside = await queries.listeners_inside(reader, channel_id)
    return View(channel, _audience(channel, inside, seers))


def _audience(channel: ChannelRecord, inside: Sequence[int], seers: Sequence[int]) -> Audience:
    if len(inside) > MAX_NAMED:
        return Audience(members=not channel.invite_only, channel=channel.stream_id, users=tuple(seers))
    return Audience(members=not channel.invite_only, users=tuple(sorted({*inside, *seers})))


def tell_changed(tx: Transaction, realm_id: int, before: View, after: View) -> None:
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
