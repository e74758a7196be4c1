"""Endpoints of subscribing and of making channels. Those that only look are in listing/routes.py."""

from typing import Annotated, Any

import msgspec

from tertulia.conversations.channels import notices
from tertulia.conversations.channels.actions.create import name_taken
from tertulia.conversations.channels.actions.subscribing import Done, Order, carry_out
from tertulia.conversations.channels.actions.unsubscribing import Removed, remove
from tertulia.conversations.channels.creation import ChannelRequest, NewChannel, Retention, TopicsPolicy, retention_days
from tertulia.conversations.channels.principals import MAX_PRINCIPALS, check_amount
from tertulia.conversations.channels.queries import ids_by_name
from tertulia.conversations.channels.rules import clean_channel_name, name_key_of
from tertulia.conversations.channels.statements import lock_conversations
from tertulia.kernel.auth import Member, Person
from tertulia.kernel.db import Transaction
from tertulia.kernel.endpoint import delete, patch, post
from tertulia.kernel.errors import Refusal
from tertulia.kernel.extra_parameters import extra_parameters
from tertulia.kernel.settings import Settings
from tertulia.organization.groups.settings import CHANNEL_SETTINGS
from tertulia.organization.groups.values import GroupValue

MAX_NAMES = 1000

ChannelRequests = Annotated[list[ChannelRequest], msgspec.Meta(max_length=MAX_NAMES)]
Names = Annotated[list[str], msgspec.Meta(max_length=MAX_NAMES)]
Principals = Annotated[list[int | str], msgspec.Meta(max_length=MAX_PRINCIPALS)]
UserIds = Annotated[list[int], msgspec.Meta(max_length=MAX_PRINCIPALS)]

OF_NEW_CHANNELS: dict[str, Any] = {
    "invite_only": bool,
    "is_web_public": bool,
    "is_default_stream": bool,
    "history_public_to_subscribers": bool,
    "message_retention_days": Retention,
    "topics_policy": TopicsPolicy,
    "folder_id": int,
    **dict.fromkeys(CHANNEL_SETTINGS, GroupValue),
}
"""What both ways of making a channel take."""


@post("/users/me/subscriptions")
@extra_parameters(OF_NEW_CHANNELS)
async def subscribe(
    caller: Person,
    tx: Transaction,
    settings: Settings,
    *,
    subscriptions: ChannelRequests,
    principals: Principals | None = None,
    authorization_errors_fatal: bool = True,
    announce: bool = False,
    send_new_subscription_messages: bool = True,
    **chosen: Any,
) -> dict[str, Any]:
    """Subscribe yourself or others to channels, making those that do not exist. Settings are for new channels only.

    With `authorization_errors_fatal` = false, channels for which you lack a right are left alone, and listed in
    `unauthorized`: to reach them, to add others, to make them, or to make them with these settings.
    """
    check_amount(len(subscriptions), len(principals or ()))
    new = _new_channel(chosen)
    order = Order(subscriptions, new, principals or [], authorization_errors_fatal)
    done = await carry_out(tx, caller, order, settings)
    await notices.tell_created(tx, caller, done, new, subscriptions, announce=announce)
    reply = _say(done)
    if not authorization_errors_fatal:
        reply["unauthorized"] = done.unauthorized
    if send_new_subscription_messages:
        reply["new_subscription_messages_sent"] = await notices.tell_subscribed(tx, caller, done)
    return reply


@delete("/users/me/subscriptions")
async def unsubscribe(
    caller: Person, tx: Transaction, *, subscriptions: Names, principals: Principals | None = None
) -> Removed:
    """Unsubscribe yourself or others from channels."""
    check_amount(len(subscriptions), len(principals or ()))
    return await remove(tx, caller, subscriptions, principals or [])


@patch("/users/me/subscriptions")
async def change_subscriptions(
    caller: Person,
    tx: Transaction,
    settings: Settings,
    *,
    add: ChannelRequests | None = None,
    delete: Names | None = None,
    principals: Principals | None = None,
) -> dict[str, Any]:
    """Subscribe to channels and unsubscribe from others, all or nothing."""
    if not add and not delete:
        raise Refusal("Nothing to do: send at least one of `add` and `delete`.")
    check_amount(len(add or ()) + len(delete or ()), len(principals or ()))
    # All of them at once and in the order of ids, before any account: what follows finds them held.
    names = [*(request.name for request in add or ()), *(delete or ())]
    known = await ids_by_name(tx, caller.realm_id, [name_key_of(name) for name in names])
    await lock_conversations(tx, list(known.values()))
    reply: dict[str, Any] = {}
    if add:
        done = await carry_out(tx, caller, Order(add, NewChannel(), principals or []), settings)
        await notices.tell_created(tx, caller, done, NewChannel(), add, announce=False)
        reply |= _say(done)
        reply["new_subscription_messages_sent"] = await notices.tell_subscribed(tx, caller, done)
    if delete:
        reply |= msgspec.structs.asdict(await remove(tx, caller, delete, principals or []))
    return reply


@post("/channels/create")
@extra_parameters(OF_NEW_CHANNELS)
async def create_channel(
    caller: Member,
    tx: Transaction,
    settings: Settings,
    *,
    name: str,
    subscribers: UserIds,
    description: str = "",
    announce: bool = False,
    **chosen: Any,
) -> dict[str, int]:
    """Create a channel with its first subscribers; the list may be empty."""
    new = _new_channel(chosen)
    request = ChannelRequest(clean_channel_name(name), description)
    if await ids_by_name(tx, caller.realm_id, [name_key_of(request.name)]):
        raise name_taken(request.name)
    done = await carry_out(tx, caller, Order([request], new, subscribers, subscribes=bool(subscribers)), settings)
    if not done.created:
        raise name_taken(request.name)
    if subscribers:
        await notices.tell_created(tx, caller, done, new, [request], announce=announce)
    return {"id": next(iter(done.created))}


def _new_channel(chosen: dict[str, Any]) -> NewChannel:
    given = {name: value for name, value in chosen.items() if value is not None}
    settings = {name: given.pop(name) for name in CHANNEL_SETTINGS if name in given}
    kept = retention_days(given.pop("message_retention_days", None))
    is_default = given.pop("is_default_stream", False)
    return NewChannel(**given, is_default=is_default, retention_days=kept, settings=settings)


def _say(done: Done) -> dict[str, Any]:
    new, old = done.split()
    return {"subscribed": new, "already_subscribed": old}
