"""Endpoints that look at channels and subscriptions, and those of the default channels."""

from typing import Any, Literal

from tertulia.conversations.channels.access import get_ruled_channel, get_visible_channel
from tertulia.conversations.channels.actions.defaults import add_default, remove_default
from tertulia.conversations.channels.listing.actions import Filters, listed_channels, own_subscriptions
from tertulia.conversations.channels.queries import find_by_name, is_subscribed, shared_channels
from tertulia.conversations.channels.records import channel_records, subscribers_as_json
from tertulia.conversations.channels.rules import ChannelId, no_such_channel
from tertulia.conversations.channels.statements import lock_conversations
from tertulia.kernel.auth import Administrator, Person
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.endpoint import delete, get, post
from tertulia.kernel.errors import Refusal
from tertulia.organization.realms.changing.actions import check_is_administrator
from tertulia.people.users.access import get_user_text

IncludeSubscribers = Literal["true", "false", "partial"]


@get("/users/me/subscriptions")
async def get_subscriptions(
    caller: Person, reader: Reader, *, include_subscribers: IncludeSubscribers = "false"
) -> dict[str, Any]:
    """Your subscriptions by the channel's name, without archived channels."""
    return {"subscriptions": await own_subscriptions(reader, caller, include_subscribers)}


@get("/streams")
async def get_channels(
    caller: Person,
    reader: Reader,
    *,
    include_public: bool = True,
    include_web_public: bool = False,
    include_subscribed: bool = True,
    exclude_archived: bool = True,
    include_all: bool = False,
    include_all_active: bool = False,
    include_can_access_content: bool = False,
    include_owner_subscribed: bool = False,
    include_default: bool = False,
) -> dict[str, Any]:
    """The channels you see, by name: all that match at least one of the chosen filters."""
    filters = Filters(
        public=include_public,
        web_public=include_web_public,
        subscribed=include_subscribed,
        everything=include_all or include_all_active,
        readable=include_can_access_content,
        owner_subscribed=include_owner_subscribed,
        archived=not exclude_archived,
    )
    return {"streams": await listed_channels(reader, caller, filters, mark_defaults=include_default)}


@get("/streams/{stream_id}")
async def get_channel(caller: Person, reader: Reader, *, stream_id: ChannelId) -> dict[str, Any]:
    """A channel you see, archived or not."""
    channel = await get_visible_channel(reader, caller, stream_id)
    [record] = await channel_records(reader, [channel.id])
    return {"stream": record}


@get("/get_stream_id")
async def get_channel_id(caller: Person, reader: Reader, *, stream: str) -> dict[str, int]:
    """The ID of a channel you may read, by its name."""
    channel = await find_by_name(reader, caller.realm_id, caller.user_id, stream)
    if channel is None or channel.is_archived or not channel.may_read:
        raise no_such_channel(stream)
    return {"stream_id": channel.id}


@get("/streams/{stream_id}/members")
async def get_subscribers(caller: Person, reader: Reader, *, stream_id: ChannelId) -> dict[str, list[int]]:
    """Who is subscribed to a channel you see."""
    channel = await get_ruled_channel(reader, caller, stream_id)
    if not channel.may_see_subscribers:
        raise Refusal("Guests know the subscribers only of channels they are in.")
    return {"subscribers": (await subscribers_as_json(reader, [channel.id])).get(channel.id, [])}


@get("/users/{user_id}/subscriptions/{stream_id}")
async def get_subscription_status(
    caller: Person, reader: Reader, *, user_id: int, stream_id: ChannelId
) -> dict[str, bool]:
    """Whether a user is subscribed to a channel you see."""
    await get_user_text(reader, caller, user_id, profile=False)  # refuses whom the caller does not see
    channel = await get_ruled_channel(reader, caller, stream_id)
    if not channel.may_see_subscribers:
        raise Refusal("Guests know the subscribers only of channels they are in.")
    return {"is_subscribed": await is_subscribed(reader, channel.id, user_id)}


@get("/users/{user_id}/channels")
async def get_user_channels(caller: Person, reader: Reader, *, user_id: int) -> dict[str, list[int]]:
    """The channels a user is in, as far as you see them."""
    await get_user_text(reader, caller, user_id, profile=False)  # refuses whom the caller does not see
    return {"subscribed_channel_ids": await shared_channels(reader, caller.user_id, user_id)}


@post("/default_streams")
async def add_default_channel(caller: Administrator, tx: Transaction, *, stream_id: ChannelId) -> None:
    """Make a channel a default channel: new users are subscribed to it. No error if it is one already."""
    await lock_conversations(tx, [stream_id])
    await check_is_administrator(tx, caller)
    channel = await get_visible_channel(tx, caller, stream_id)
    if channel.is_archived:
        raise no_such_channel(stream_id)
    if channel.invite_only:
        raise Refusal("A default channel can't be private.")
    await add_default(tx, caller.realm_id, channel.id)


@delete("/default_streams")
async def remove_default_channel(caller: Administrator, tx: Transaction, *, stream_id: ChannelId) -> None:
    """Make a channel no longer a default channel: new users are not subscribed to it. No error if it is none."""
    await lock_conversations(tx, [stream_id])
    await check_is_administrator(tx, caller)
    channel = await get_visible_channel(tx, caller, stream_id)
    if channel.is_archived:
        raise no_such_channel(stream_id)
    await remove_default(tx, caller.realm_id, channel.id)
