"""Taking a channel out of use, and back.

An archived channel keeps its name, its messages and its subscriptions, which nobody can change; nobody sends to it. Clients
that know such channels hear that it is archived; for the others it is gone, and new when it comes back.
"""

from typing import Any

import msgspec

from tertulia.conversations.channels.access import get_ruled_channel
from tertulia.conversations.channels.actions.defaults import remove_default
from tertulia.conversations.channels.bounds import CHANNELS
from tertulia.conversations.channels.changing import queries
from tertulia.conversations.channels.changing.events import KNOWS_ARCHIVED, ChannelView, deletion, view_of
from tertulia.conversations.channels.changing.notices import say_archived
from tertulia.conversations.channels.events import MAX_IDS
from tertulia.conversations.channels.model import RuledChannel
from tertulia.conversations.channels.records import subscribers_of, subscription_record
from tertulia.conversations.channels.statements import alike_subscriptions
from tertulia.events.log.record import Audience, record
from tertulia.kernel.auth import Caller
from tertulia.kernel.bounds import check_room
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.organization import audit_log
from tertulia.organization.audit_log import Act, note
from tertulia.organization.realms.changing.actions import forget_channel
from tertulia.organization.realms.queries import lock_realm


async def archive(tx: Transaction, caller: Caller, channel: RuledChannel) -> None:
    """Take a channel that is held out of use."""
    if channel.is_archived:
        raise Refusal("The channel is archived already.")
    # Whoever deactivates an account or adds one holds the realm and then counts in the channel's row: the same order here.
    await lock_realm(tx, caller.realm_id)
    await queries.update_channel(tx, channel.id, {"is_archived": True})
    await remove_default(tx, caller.realm_id, channel.id)
    view = await view_of(tx, channel.id)
    await say_archived(tx, caller, view.channel)
    _tell_knowing(tx, caller, view)
    _tell(tx, caller, view.to, {**deletion(channel.id), "for_archiving": True})
    await forget_channel(tx, caller.realm_id, channel.id)
    note(tx, caller.realm_id, Act.CHANNEL_ARCHIVED, audit_log.channel(channel.id), is_archived=(False, True))


async def unarchive(tx: Transaction, caller: Caller, channel: RuledChannel) -> RuledChannel:
    """Take a channel that is held back into use; returns what it is then."""
    if not channel.is_archived:
        raise Refusal("The channel is not archived.")
    if channel.invite_only and channel.subscriber_count == 0:
        raise Refusal("A private channel without subscribers can't be taken back into use: nobody could get into it.")
    await check_room(tx, CHANNELS, caller.realm_id)
    await queries.update_channel(tx, channel.id, {"is_archived": False})
    view = await view_of(tx, channel.id)
    await say_archived(tx, caller, view.channel)
    _tell_knowing(tx, caller, view)
    _tell(tx, caller, view.to, {"op": "create", "streams": [view.channel], "for_unarchiving": True})
    await _tell_subscribers(tx, caller, view)
    note(tx, caller.realm_id, Act.CHANNEL_UNARCHIVED, audit_log.channel(channel.id), is_archived=(True, False))
    return await get_ruled_channel(tx, caller, channel.id)


def _tell_knowing(tx: Transaction, caller: Caller, view: ChannelView) -> None:
    channel = view.channel
    change = {"property": "is_archived", "value": channel.is_archived, "stream_id": channel.stream_id}
    to = msgspec.structs.replace(view.to, needs=KNOWS_ARCHIVED)
    tx.emit(caller.realm_id, record(to, "stream", {"op": "update", **change, "name": channel.name}))


def _tell(tx: Transaction, caller: Caller, to: Audience, event: dict[str, Any], type: str = "stream") -> None:
    """To those for whom an archived channel does not exist."""
    tx.emit(caller.realm_id, record(msgspec.structs.replace(to, lacks=KNOWS_ARCHIVED), type, event))


async def _tell_subscribers(tx: Transaction, caller: Caller, view: ChannelView) -> None:
    """Their subscriptions come back with what they had set."""
    channel = view.channel
    inside = (await subscribers_of(tx, [channel.stream_id])).get(channel.stream_id, [])
    if not inside:
        return
    for same in await alike_subscriptions(tx, {channel.stream_id: tuple(inside)}):
        own = {"op": "add", "subscriptions": [subscription_record(channel, same.personal)]}
        for start in range(0, len(same.user_ids), MAX_IDS):
            _tell(tx, caller, Audience(users=same.user_ids[start : start + MAX_IDS]), own, "subscription")
