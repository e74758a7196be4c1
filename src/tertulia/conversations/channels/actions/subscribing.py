"""POST /users/me/subscriptions and its kin (protocol/channels.md#subscribe).

The first refusal counts: names; guests; settings; the right to make what does not exist; access to what does, and the right
to add others; the people named. Where a right that is missing is not fatal, its channels are left out and named; everything
else that is wrong is refused all the same.

Locks: the conversations of channels that are there come first, then new channels are made, in the order of their names, and
accounts last. So of two calls that name the same new channel the later one waits, and then uses what it finds.
"""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from tertulia.conversations.channels import statements
from tertulia.conversations.channels.actions.create import check_may_create, create_channels, values_of_new
from tertulia.conversations.channels.actions.membership import note_others, subscribe
from tertulia.conversations.channels.creation import ChannelRequest, NewChannel, clean_description
from tertulia.conversations.channels.model import RuledChannel
from tertulia.conversations.channels.principals import Principal, find_ids, get_principals
from tertulia.conversations.channels.properties.rules import clean_color
from tertulia.conversations.channels.queries import ids_by_name, ruled_channels
from tertulia.conversations.channels.rules import clean_channel_name, name_key_of
from tertulia.conversations.folders.access import hold_folder
from tertulia.kernel.auth import Caller, Member, check_kind
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings
from tertulia.organization.audit_log import Act
from tertulia.organization.groups.queries import hold_active_users
from tertulia.organization.groups.values import GroupMembers


class Order(msgspec.Struct, frozen=True):
    """Who is to be subscribed to what."""

    requests: list[ChannelRequest]
    new: NewChannel
    principals: Sequence[int | str] = ()
    is_strict: bool = True
    """Whether a channel for which the caller lacks a right makes the whole call fail; else it is left alone."""
    subscribes: bool = True
    """False: the channels are only made."""


class Done(msgspec.Struct, frozen=True):
    """What became of an order: channels by id, with their names."""

    created: dict[int, str]
    existing: dict[int, str]
    unauthorized: list[str]
    people: list[Principal]
    joined: set[tuple[int, int]]
    """(user, channel) of the subscriptions that are new."""

    @property
    def names(self) -> dict[int, str]:
        """All channels that were subscribed to."""
        return self.created | self.existing

    def split(self) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        """By the user's id as text: the names of channels they are new in, and of those they were in before."""
        new: dict[str, list[str]] = {}
        old: dict[str, list[str]] = {}
        for person in self.people:
            for channel, name in self.names.items():
                side = new if (person.id, channel) in self.joined else old
                side.setdefault(str(person.id), []).append(name)
        return new, old


async def carry_out(tx: Transaction, caller: Caller, order: Order, settings: Settings) -> Done:
    """Subscribe people to channels, making those that do not exist."""
    requests = {name_key_of(request.name): _clean(request) for request in reversed(order.requests)}
    if caller.is_guest:
        return await _refuse_guest(tx, caller, order)
    created = await _create_missing(tx, caller, requests, order, settings)
    existing = await _reach(tx, caller, [key for key in requests if key not in created], order)
    people = await get_principals(tx, caller, order.principals or [caller.user_id]) if order.subscribes else []
    if any(person.id != caller.user_id for person in people):
        existing = _may_be_added_to(existing, order)
    ids = {requests[key].name: channel_id for key, channel_id in created.items()}
    colors = {
        channel_id: requests[key].color
        for key, channel_id in (created | {name_key_of(channel.name): channel.id for channel in existing}).items()
    }
    chosen = {channel_id: color for channel_id, color in colors.items() if color}
    users = [person.id for person in people]
    joined = await subscribe(tx, caller.realm_id, sorted(colors), users, chosen) if users else []
    new = {(row.user_id, row.channel_id) for row in joined}
    note_others(tx, caller, Act.CHANNEL_SUBSCRIBED, new)
    return Done(
        created={channel_id: name for name, channel_id in ids.items()},
        existing={channel.id: channel.name for channel in existing},
        unauthorized=_left_out(order, {*created, *(name_key_of(channel.name) for channel in existing)}),
        people=people,
        joined=new,
    )


async def _refuse_guest(tx: Transaction, caller: Caller, order: Order) -> Done:
    """What becomes of a guest's order: they subscribe nobody, themselves included."""
    if order.is_strict:
        check_kind(caller, Member)
    await get_principals(tx, caller, order.principals)
    return Done({}, {}, _left_out(order, ()), [], set())


async def _create_missing(
    tx: Transaction, caller: Caller, requests: Mapping[str, ChannelRequest], order: Order, settings: Settings
) -> dict[str, int]:
    """Make those channels that are not there; their ids by name key. Holds the conversations of all others first."""
    known = await ids_by_name(tx, caller.realm_id, list(requests))
    await statements.lock_conversations(tx, list(known.values()))
    missing = [request for key, request in requests.items() if key not in known]
    if not missing:
        return {}
    # Everybody the call names, at once and in their order: who turns one of them off comes before or after all of it.
    await hold_active_users(tx, caller.realm_id, sorted(await _named_users(tx, caller, order)))
    values = await values_of_new(tx, caller, order.new, settings)
    try:
        await check_may_create(tx, caller, order.new, values)
    except Refusal:
        if order.is_strict:
            raise
        return {}
    if order.new.folder_id is not None:
        await hold_folder(tx, caller.realm_id, order.new.folder_id)
    created = await create_channels(tx, caller.realm_id, caller.user_id, missing, order.new, values)
    if len(created) < len(missing):
        # Somebody else made them while we waited: theirs are used.
        theirs = await ids_by_name(tx, caller.realm_id, [key for key in requests if key not in created])
        await statements.lock_conversations(tx, list(theirs.values()))
    return created


async def _reach(tx: Transaction, caller: Caller, name_keys: Sequence[str], order: Order) -> list[RuledChannel]:
    """Channels that were there before, if the caller reaches what is said in them."""
    found = await ruled_channels(tx, caller.realm_id, caller.user_id, name_keys=name_keys) if name_keys else []
    reached = [channel for channel in found if channel.may_read and not channel.is_archived]
    if len(reached) < len(found) and order.is_strict:
        known = {name_key_of(channel.name) for channel in found} - {name_key_of(channel.name) for channel in reached}
        first = next(request.name.strip() for request in order.requests if name_key_of(request.name) in known)
        raise Refusal(f"You can't access the channel ({first}).")
    return reached


def _may_be_added_to(channels: Sequence[RuledChannel], order: Order) -> list[RuledChannel]:
    """Those that the caller may subscribe others to."""
    found = [channel for channel in channels if channel.may_add_subscribers]
    if len(found) < len(channels) and order.is_strict:
        raise Refusal("Insufficient permission")
    return found


def _left_out(order: Order, name_keys: Collection[str]) -> list[str]:
    """The names of channels, as they were asked for, that nothing was done in: the caller lacks the right."""
    return [request.name.strip() for request in order.requests if name_key_of(request.name) not in name_keys]


async def _named_users(tx: Transaction, caller: Caller, order: Order) -> set[int]:
    in_settings = {
        user
        for value in order.new.settings.values()
        if isinstance(value, GroupMembers)
        for user in value.direct_members
    }
    are_ids = all(isinstance(one, int) for one in order.principals)
    principals = order.principals if are_ids else await find_ids(tx, caller, order.principals)
    return {caller.user_id, *in_settings, *(one for one in principals if isinstance(one, int))}


def _clean(request: ChannelRequest) -> ChannelRequest:
    color = clean_color(request.color) if request.color is not None else None
    return ChannelRequest(clean_channel_name(request.name), clean_description(request.description), color)
