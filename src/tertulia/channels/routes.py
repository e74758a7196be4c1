"""Endpoints of the channels feature: so far subscribing and unsubscribing, with channels made on demand."""

from typing import Annotated, Any

import msgspec

from tertulia.channels import actions
from tertulia.channels.access import find_channel
from tertulia.channels.rules import clean_channel_name
from tertulia.kernel.auth import Person
from tertulia.kernel.db import Transaction
from tertulia.kernel.endpoint import delete, post
from tertulia.kernel.errors import Refusal

MAX_NAMES = 1000


class NamedChannel(msgspec.Struct):
    """A channel to subscribe to; the description is for a new one."""

    name: str
    description: Annotated[str, msgspec.Meta(max_length=1024)] = ""


@post("/users/me/subscriptions")
async def subscribe(
    caller: Person,
    tx: Transaction,
    *,
    subscriptions: Annotated[list[NamedChannel], msgspec.Meta(max_length=MAX_NAMES)],
    invite_only: bool = False,
) -> dict[str, Any]:
    """Subscribe yourself to channels, making those that do not exist."""
    if caller.is_guest:
        raise Refusal("Guests can't subscribe themselves.")
    names: dict[int, str] = {}
    for wanted in subscriptions:
        name = clean_channel_name(wanted.name)
        channel = await find_channel(tx, caller, name)
        if channel is None:
            try:
                channel_id = await actions.create_channel(
                    tx,
                    caller.realm_id,
                    name,
                    creator_id=caller.user_id,
                    invite_only=invite_only,
                    description=wanted.description,
                )
            except Refusal as taken:
                raise Refusal(f"You can't access the channel '{name}'.") from taken
        else:
            channel_id, name = channel.id, channel.name
            if channel.is_archived:
                raise Refusal(f"The channel '{name}' is archived.")
        names[channel_id] = name
    joined = {row.channel_id for row in await actions.subscribe(tx, caller.realm_id, list(names), [caller.user_id])}
    own = str(caller.user_id)
    new = [name for channel_id, name in names.items() if channel_id in joined]
    old = [name for channel_id, name in names.items() if channel_id not in joined]
    return {"subscribed": {own: new} if new else {}, "already_subscribed": {own: old} if old else {}}


@delete("/users/me/subscriptions")
async def unsubscribe(
    caller: Person, tx: Transaction, *, subscriptions: Annotated[list[str], msgspec.Meta(max_length=MAX_NAMES)]
) -> dict[str, Any]:
    """Unsubscribe yourself from channels."""
    names: dict[int, str] = {}
    for wanted in subscriptions:
        channel = await find_channel(tx, caller, clean_channel_name(wanted))
        if channel is None:
            raise Refusal(f"There is no channel named '{wanted}'.", code="STREAM_DOES_NOT_EXIST", stream=wanted)
        if channel.is_archived:
            raise Refusal(f"The channel '{wanted}' is archived.")
        names[channel.id] = channel.name
    left = {row.channel_id for row in await actions.unsubscribe(tx, caller.realm_id, list(names), [caller.user_id])}
    return {
        "removed": [name for channel_id, name in names.items() if channel_id in left],
        "not_removed": [name for channel_id, name in names.items() if channel_id not in left],
    }
