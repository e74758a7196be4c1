"""Who sees a private channel without being subscribed: administrators, and those whom one of three settings names.

This is asked below the channels feature as well: a change of groups or accounts changes who sees what.
"""

import asyncio
from collections.abc import Mapping, Sequence

from tertulia.events.log.record import Audience, Record, record
from tertulia.kernel.auth import Role
from tertulia.kernel.db import Transaction
from tertulia.organization.groups import queries
from tertulia.organization.groups.queries import holds
from tertulia.organization.groups.seers import TURN, VISIBILITY_SETTINGS, seers_to_name
from tertulia.organization.groups.values import GroupValue

MAX_ENDS = 10_000
"""So many users in one entry of the log at most."""

_VALUES = ", ".join(f"(channel.{setting})" for setting in VISIBILITY_SETTINGS)

_NAMES = " or ".join(f"holder.id = {{channel}}.{setting}" for setting in VISIBILITY_SETTINGS)


def knows_of(account: str, channel: str) -> str:
    """The condition that an account knows that a channel is there, for features below that of channels: its MAY_SEE.

    Both are names of rows; nothing is known of a channel that is not there.
    """
    return f"""
    ({channel}.is_web_public or (not {channel}.invite_only and {account}.role < {Role.GUEST})
        or {account}.role <= {Role.ADMINISTRATOR}
        or exists (select from subscription where subscription.user_id = {account}.id
            and subscription.channel_id = {channel}.id and subscription.is_active offset 0)
        or ({account}.role < {Role.GUEST} and exists (
            select from user_group as holder where ({_NAMES.format(channel=channel)}) and {holds("holder", account)} offset 0
        )))
    """


_GIVES_VISIBILITY = f"""
with recursive climbed(id) as (
    select $2::bigint
    union
    select group_subgroup.group_id from climbed join group_subgroup on subgroup_id = climbed.id
)
select exists (
    select from channel, lateral (values {_VALUES}) as holder(id)
    where channel.realm_id = $1 and channel.invite_only and holder.id in (select id from climbed)
)
"""


async def end_queues_of_members(tx: Transaction, realm_id: int, group_id: int, user_ids: Sequence[int]) -> None:
    """Users came into a group or left it: if that shows or hides private channels, their event queues end.

    What they see changes from then on, as after a change of role (decisions 0023 and 0031).
    """
    if user_ids and await tx.fetchval(_GIVES_VISIBILITY, realm_id, group_id):
        await _end_queues(tx, realm_id, user_ids)


async def end_queues_of_groups(tx: Transaction, realm_id: int, group_id: int, subgroup_ids: Sequence[int]) -> None:
    """As `end_queues_of_members`, of everybody in groups that became part of a group or no longer are."""
    if not await tx.fetchval(_GIVES_VISIBILITY, realm_id, group_id):
        return
    await _end_queues(tx, realm_id, await queries.all_members(tx, realm_id, subgroup_ids))


async def _end_queues(tx: Transaction, realm_id: int, user_ids: Sequence[int]) -> None:
    """Of those for whom groups make a difference: administrators see all channels, guests none by a group."""
    concerned = (
        f"select id from account where id = any($1) and role > {Role.ADMINISTRATOR} and role < {Role.GUEST} order by id"
    )
    for ended in ends([row["id"] for row in await tx.fetch(concerned, user_ids)]):
        tx.emit(realm_id, ended)


async def tell_channel_values(tx: Transaction, realm_id: int, values: Mapping[int, GroupValue]) -> None:
    """Values of channels' settings look otherwise now: somebody in them came back or went."""
    tx.allow_many_events()  # one for each channel whose settings name them
    uses = await queries.channel_uses(tx, realm_id, list(values))
    seers = await seers_to_name(tx, realm_id, sorted({use.channel_id for use in uses if use.invite_only}))
    for place, use in enumerate(uses, 1):
        if place % TURN == 0:
            await asyncio.sleep(0)
        seeing = seers.get(use.channel_id)
        to = Audience(
            realm=use.is_web_public,
            members=seeing is None,
            channel=use.channel_id,
            users=seeing or (),
            needs="archived_channels" if use.is_archived else "",
        )
        change = {"property": use.setting, "value": values[use.holder]}
        event = {"op": "update", "stream_id": use.channel_id, "name": use.name, **change}
        tx.emit(realm_id, record(to, "stream", event))


def ends(user_ids: Sequence[int]) -> list[Record]:
    """Entries of the log that end the queues of users and that nobody hears."""
    portions = [tuple(user_ids[start : start + MAX_ENDS]) for start in range(0, len(user_ids), MAX_ENDS)]
    return [record(Audience(), "ends", {}, ends=portion) for portion in portions]
