"""What subscribers set for themselves in a channel (protocol/channels.md#subscription-properties).

All changes of one request are made, or none. The row stays when somebody unsubscribes, so subscribing again restores it.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from tertulia.conversations.channels.access import get_visible_channel
from tertulia.conversations.channels.model import Personal
from tertulia.conversations.channels.properties import queries
from tertulia.conversations.channels.properties.rules import INHERITED, column_and_value, told
from tertulia.conversations.channels.statements import lock_conversations
from tertulia.events.log.record import Audience, record
from tertulia.kernel.auth import Caller
from tertulia.kernel.compat import is_old_property
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.people.preferences.model import UserSettings
from tertulia.people.preferences.queries import get_settings

KNOWS_INHERITED = "notification_settings_null"


class PropertyChange(msgspec.Struct, frozen=True):
    """One property of one channel as somebody wants it."""

    channel_id: int
    property: str
    value: Any


async def set_properties(tx: Transaction, caller: Caller, changes: Sequence[PropertyChange]) -> None:
    """Set properties of one's own subscriptions, in this order; of several wishes for the same one the last counts."""
    own = await _hold(tx, caller, [change.channel_id for change in changes])
    wanted: dict[tuple[int, str], object] = {}
    for change in changes:
        if change.channel_id not in own:
            raise await _not_subscribed(tx, caller, change.channel_id)
        column, value = column_and_value(change.property, change.value)
        wanted.pop((change.channel_id, column), None)
        wanted[change.channel_id, column] = value
    settings, _ = await get_settings(tx, caller.user_id)
    for (channel_id, column), value in wanted.items():
        own[channel_id] = msgspec.structs.replace(own[channel_id], **{column: value})
        for property, shown in told(column, value):
            _tell(tx, caller, settings, PropertyChange(channel_id, property, shown))
    await queries.write_personal(tx, caller.user_id, [own[channel_id] for channel_id in sorted(own)])


async def _hold(tx: Transaction, caller: Caller, channel_ids: Sequence[int]) -> dict[int, Personal]:
    """The caller's active subscriptions among these; none of the channels is archived until the commit."""
    await lock_conversations(tx, sorted(set(channel_ids)))
    return await queries.lock_personal(tx, caller.user_id, channel_ids)


async def _not_subscribed(tx: Transaction, caller: Caller, channel_id: int) -> Refusal:
    channel = await get_visible_channel(tx, caller, channel_id)
    if channel.is_archived:
        return Refusal(f"The channel '{channel.name}' is archived: nothing about subscriptions to it can be changed.")
    return Refusal(f"You are not subscribed to the channel with the ID {channel_id}.")


def _tell(tx: Transaction, caller: Caller, settings: UserSettings, change: PropertyChange) -> None:
    """To the caller's clients. Those who do not know of inherited settings get what is inherited."""
    everybody = Audience(users=(caller.user_id,), old=is_old_property(change.property))
    if change.value is not None:
        _emit(tx, caller, everybody, change)
        return
    inherited = getattr(settings, INHERITED[change.property])
    _emit(tx, caller, msgspec.structs.replace(everybody, needs=KNOWS_INHERITED), change)
    change = msgspec.structs.replace(change, value=inherited)
    _emit(tx, caller, msgspec.structs.replace(everybody, lacks=KNOWS_INHERITED), change)


def _emit(tx: Transaction, caller: Caller, to: Audience, change: PropertyChange) -> None:
    event = {"op": "update", "stream_id": change.channel_id, "property": change.property, "value": change.value}
    tx.emit(caller.realm_id, record(to, "subscription", event))
