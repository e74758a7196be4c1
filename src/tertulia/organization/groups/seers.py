"""Who sees private channels without being subscribed, of many channels at once.

Any member may make hundreds of private channels that thousands see by a group. As one statement over pairs of channel and person
that took ten seconds for 490 channels and 5,000 people, in which nobody joined the organization if one of them was deactivated.
So each group is read once, with who is in it, and channels that the same groups show have one answer.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tertulia.kernel.auth import Role
from tertulia.kernel.db import Reader
from tertulia.organization.groups.webs.statements import BELOW, inside

VISIBILITY_SETTINGS = ("can_administer_channel_group", "can_add_subscribers_group", "can_subscribe_group")
TURN = 10
"""After so many lists of thousands others have their turn: of those who see a channel, or of an event that names them."""

_HOLDERS = f"""
select id, realm_id, array[{", ".join(VISIBILITY_SETTINGS)}] as holders from channel where id = any($1::bigint[])
"""
_GROUPS = f"""
with recursive {inside("select unnest($1::bigint[])")}
select user_group.id, lowest_role, is_for_full_members,
    array(select subgroup_id from group_subgroup {BELOW} where group_id = user_group.id) as below,
    array(
        select user_id from group_member join account on account.id = user_id and account.is_active
            and account.role < {Role.GUEST} where group_id = user_group.id
    ) as user_ids
from reached join user_group using (id)
"""
_BY_ROLE = f"""
select realm_id, role, is_waiting(account.date_joined, realm.settings, realm.judged_at), array_agg(account.id)
from account join realm on realm.id = account.realm_id
where realm_id = any($1::bigint[]) and account.is_active and role <= $2 and role < {Role.GUEST} group by 1, 2, 3
"""


class Shown(NamedTuple):
    """What decides who sees a channel: the same of many channels."""

    realm_id: int
    lowest_role: int
    """Everybody with this role or a higher one."""
    has_full_members: bool
    groups: frozenset[int]
    """With people of their own."""


class OfRole(NamedTuple):
    """People of a role, who wait to be full members or do not."""

    role: int
    waits: bool
    user_ids: Sequence[int]


class _Group(NamedTuple):
    lowest_role: int | None
    is_for_full_members: bool
    below: Sequence[int]
    user_ids: Sequence[int]


async def seers_of(reader: Reader, channel_ids: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """Who sees each private channel whether or not they are subscribed, ascending."""
    if not channel_ids:
        return {}
    channels = await reader.fetch(_HOLDERS, channel_ids)
    roots = sorted({holder for row in channels for holder in row["holders"]})
    groups = {row["id"]: _Group(*list(row)[1:]) for row in await reader.fetch(_GROUPS, roots)}
    shown = {row["id"]: _shown(row["realm_id"], row["holders"], groups) for row in channels}
    by_role: defaultdict[int, list[OfRole]] = defaultdict(list)
    lowest = max((_lowest(one) for one in shown.values()), default=0)
    for realm_id, *rest in await reader.fetch(_BY_ROLE, sorted({one.realm_id for one in shown.values()}), lowest):
        by_role[realm_id].append(OfRole(*rest))
    seers: dict[Shown, tuple[int, ...]] = {}
    for one in shown.values():
        if one not in seers:
            seers[one] = _seers(one, by_role[one.realm_id], groups)
            if len(seers) % TURN == 0:
                await asyncio.sleep(0)
    return {channel_id: seers[shown[channel_id]] if channel_id in shown else () for channel_id in channel_ids}


async def seers_to_name(reader: Reader, realm_id: int, channel_ids: Sequence[int]) -> dict[int, tuple[int, ...] | None]:
    """The same, of channels of one organization, for events: None where all members see a channel.

    Somebody's channels may be hundreds, and so many events with thousands of names are hundreds of megabytes of log.
    """
    seers = await seers_of(reader, channel_ids)
    if not seers:
        return {}
    sql = f"select count(*) from account where realm_id = $1 and is_active and role < {Role.GUEST}"
    members = await reader.fetchval(sql, realm_id)
    return {channel_id: None if len(seeing) == members else seeing for channel_id, seeing in seers.items()}


def _shown(realm_id: int, holders: Iterable[int], groups: Mapping[int, _Group]) -> Shown:
    reached, found = set(holders), list(holders)
    for group_id in found:
        fresh = [below for below in groups[group_id].below if below not in reached]
        reached.update(fresh)
        found += fresh
    inside = [groups[group_id] for group_id in found]
    roles = [one.lowest_role for one in inside if one.lowest_role is not None and not one.is_for_full_members]
    return Shown(
        realm_id,
        max([Role.ADMINISTRATOR.value, *roles]),
        any(one.is_for_full_members for one in inside),
        frozenset(group_id for group_id in found if groups[group_id].user_ids),
    )


def _lowest(shown: Shown) -> int:
    return max(shown.lowest_role, Role.MEMBER) if shown.has_full_members else shown.lowest_role


def _seers(shown: Shown, by_role: Iterable[OfRole], groups: Mapping[int, _Group]) -> tuple[int, ...]:
    found = {user_id for group_id in shown.groups for user_id in groups[group_id].user_ids}
    for role, waits, user_ids in by_role:
        is_full = shown.has_full_members and role <= Role.MEMBER and not (role == Role.MEMBER and waits)
        if role <= shown.lowest_role or is_full:
            found.update(user_ids)
    return tuple(sorted(found))
