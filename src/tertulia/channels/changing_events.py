"""Telling of a changed channel.

Those who saw it and still do hear what is different; whoever comes to see it hears of a new channel, and whoever no longer
does that it is gone. Who is who is decided at the event's point of the log, so that nobody hears two of these.
"""

from typing import Any

import msgspec

from tertulia.channels.changing_rules import differences
from tertulia.channels.events import audience_of
from tertulia.channels.model import ChannelRecord
from tertulia.channels.records import channel_records
from tertulia.events.record import Audience, record
from tertulia.groups.sight import seers_of
from tertulia.kernel.db import Reader, Transaction

KNOWS_ARCHIVED = "archived_channels"


class View(msgspec.Struct, frozen=True):
    """A channel at one moment, and who sees it then."""

    channel: ChannelRecord
    to: Audience


async def view_of(reader: Reader, channel_id: int) -> View:
    """A channel as it is, and who sees it."""
    [channel] = await channel_records(reader, [channel_id])
    seers = await seers_of(reader, [channel_id]) if channel.invite_only else {}
    return View(channel, audience_of(channel, seers.get(channel_id, ())))


def tell_changed(tx: Transaction, realm_id: int, before: View, after: View) -> None:
    """Everything that is different."""
    channel = after.channel
    stay = after.to if before.to == after.to else _without(after.to, _without(after.to, before.to))
    for change in differences(before.channel, channel):
        _tell(tx, realm_id, channel, stay, {"op": "update", **change})
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
