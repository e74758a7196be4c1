"""DELETE /users/me/subscriptions: leaving needs no right; removing others does (protocol/channels.md#subscribe)."""

from collections.abc import Sequence

import msgspec

from tertulia.conversations.channels import statements
from tertulia.conversations.channels.actions.membership import note_others, unsubscribe
from tertulia.conversations.channels.model import RuledChannel
from tertulia.conversations.channels.principals import Principal, get_principals
from tertulia.conversations.channels.queries import bots_without_owner_inside, ids_by_name, ruled_channels
from tertulia.conversations.channels.rules import clean_channel_name, name_key_of, no_such_channel
from tertulia.conversations.channels.statements import Joined
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.organization.audit_log import Act


class Removed(msgspec.Struct, frozen=True):
    """The names of channels, once for each user who left them, and for each who was not in them."""

    removed: list[str]
    not_removed: list[str]


async def remove(tx: Transaction, caller: Caller, names: Sequence[str], principals: Sequence[int | str]) -> Removed:
    """Unsubscribe people from channels."""
    channels = await _hold(tx, caller, names)
    people = await get_principals(tx, caller, principals or [caller.user_id])
    for channel in channels:
        _check_may_remove(caller, channel, people)
    ids = [channel.id for channel in channels]
    named = [person.id for person in people]
    bots = await _bots_of_removed(tx, caller, ids, named)
    left = {(row.user_id, row.channel_id) for row in await unsubscribe(tx, caller.realm_id, ids, named, bots)}
    note_others(tx, caller, Act.CHANNEL_UNSUBSCRIBED, left)
    removed: list[str] = []
    not_removed: list[str] = []
    for person in people:
        for channel in channels:
            (removed if (person.id, channel.id) in left else not_removed).append(channel.name)
    return Removed(removed, not_removed)


async def _bots_of_removed(tx: Transaction, caller: Caller, ids: Sequence[int], named: Sequence[int]) -> list[Joined]:
    """Bots by which somebody who is removed would read on. Who leaves of their own accord may leave a bot there."""
    removed = [id for id in named if id not in (caller.user_id, caller.owner_id)]
    if not removed:
        return []
    return [Joined(*pair) for pair in await bots_without_owner_inside(tx, ids, removed) if pair[0] not in named]


async def _hold(tx: Transaction, caller: Caller, names: Sequence[str]) -> list[RuledChannel]:
    """The channels, in the order named; none changes until the commit."""
    wanted = {name_key_of(name): clean_channel_name(name) for name in names}
    known = await ids_by_name(tx, caller.realm_id, list(wanted))
    await statements.lock_conversations(tx, list(known.values()))
    found = await ruled_channels(tx, caller.realm_id, caller.user_id, name_keys=list(wanted))
    visible = {name_key_of(channel.name): channel for channel in found if channel.may_see}
    for key, name in wanted.items():
        if key not in visible:
            raise no_such_channel(name)
        if visible[key].is_archived:
            raise Refusal(f"The channel '{name}' is archived: nobody can be unsubscribed from it.")
    return [visible[key] for key in wanted]


def _check_may_remove(caller: Caller, channel: RuledChannel, people: Sequence[Principal]) -> None:
    for person in people:
        is_own = caller.user_id in (person.id, person.bot_owner_id)
        if not is_own and not channel.may_remove_subscribers:
            raise Refusal("Insufficient permission")
