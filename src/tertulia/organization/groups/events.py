"""Events of groups, and who hears them.

Everybody in the realm hears of groups, guests too: without them no client could show a mention. A deactivated group does
not exist for clients that never said they know such groups, so they hear nothing about one. Where guests do not see
everybody, they hear who belongs to a group only of themselves: that is what they need to know if a mention means them.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from tertulia.events.log.record import Audience, record
from tertulia.kernel.db import Transaction
from tertulia.organization.groups.model import GroupRecord
from tertulia.organization.groups.queries import guests_apart
from tertulia.organization.groups.values import GroupValue

KNOWS_DEACTIVATED = "include_deactivated_groups"
MAX_IDS = 10_000
"""So many members in one event at most: an event must fit into a message of the log."""

MAX_TOLD = 200
"""So many guests are told one by one that they came into a group, or went."""

_ALL = Audience(realm=True)
_KNOWING = Audience(realm=True, needs=KNOWS_DEACTIVATED)
_OTHERS = Audience(realm=True, lacks=KNOWS_DEACTIVATED)


async def tell_created(tx: Transaction, realm_id: int, group: GroupRecord) -> None:
    """A group is there. Its subgroups are told separately."""
    await _tell_added(tx, realm_id, _ALL, group, {})


def tell_updated(tx: Transaction, realm_id: int, group_id: int, data: dict[str, Any], *, is_deactivated: bool) -> None:
    """A property of a group has changed."""
    _tell(tx, realm_id, _KNOWING if is_deactivated else _ALL, "update", group_id=group_id, data=data)


def tell_deactivated(tx: Transaction, realm_id: int, group_id: int) -> None:
    """A group is out of use: some see its new state, for the others it is gone."""
    _tell(tx, realm_id, _KNOWING, "update", group_id=group_id, data={"deactivated": True})
    _tell(tx, realm_id, _OTHERS, "remove", group_id=group_id)


async def tell_reactivated(tx: Transaction, realm_id: int, group: GroupRecord) -> None:
    """A group is back in use: for some it comes into being."""
    _tell(tx, realm_id, _KNOWING, "update", group_id=group.id, data={"deactivated": False})
    await _tell_added(tx, realm_id, _OTHERS, group, {"for_reactivation": True})


async def tell_members(
    tx: Transaction, realm_id: int, op: str, group_id: int, user_ids: Sequence[int], *, is_deactivated: bool = False
) -> None:
    """Direct members came (`add_members`) or went (`remove_members`)."""
    to = _KNOWING if is_deactivated else _ALL
    guests = await guests_apart(tx, realm_id, user_ids)
    all_hearing = to if guests is None else _without_guests(to)
    for start in range(0, len(user_ids), MAX_IDS):
        _tell(tx, realm_id, all_hearing, op, group_id=group_id, user_ids=user_ids[start : start + MAX_IDS])
    _tell_guests(tx, realm_id, to, op, group_id, guests or [])


def tell_subgroups(
    tx: Transaction, realm_id: int, op: str, group_id: int, subgroup_ids: Sequence[int], *, is_deactivated: bool = False
) -> None:
    """Direct subgroups came (`add_subgroups`) or went (`remove_subgroups`)."""
    to = _KNOWING if is_deactivated else _ALL
    _tell(tx, realm_id, to, op, group_id=group_id, direct_subgroup_ids=subgroup_ids)


def tell_permissions(tx: Transaction, realm_id: int, values: dict[str, GroupValue]) -> None:
    """Permissions of the organization have changed."""
    event: dict[str, Any] = {"op": "update_dict", "property": "default", "data": values}
    tx.emit(realm_id, record(_ALL, "realm", event))


def tell_old_policies(tx: Transaction, realm_id: int, policies: dict[str, int]) -> None:
    """What older clients know some of them as has changed."""
    for name, value in policies.items():
        event = {"op": "update", "property": name, "value": value}
        tx.emit(realm_id, record(Audience(realm=True, old=True), "realm", event))


async def _tell_added(tx: Transaction, realm_id: int, to: Audience, group: GroupRecord, more: dict[str, Any]) -> None:
    guests = await guests_apart(tx, realm_id, group.members)
    all_hearing = to if guests is None else _without_guests(to)
    first = group.with_members(group.members[:MAX_IDS])
    _tell(tx, realm_id, all_hearing, "add", group=first, **more)
    for start in range(MAX_IDS, len(group.members), MAX_IDS):
        ids = group.members[start : start + MAX_IDS]
        _tell(tx, realm_id, all_hearing, "add_members", group_id=group.id, user_ids=ids)
    if guests is not None:
        only_guests = msgspec.structs.replace(to, without=Audience(members=True))
        _tell(tx, realm_id, only_guests, "add", group=group.with_members([]), **more)
        _tell_guests(tx, realm_id, to, "add_members", group.id, guests)


def _tell_guests(tx: Transaction, realm_id: int, to: Audience, op: str, group_id: int, guests: Sequence[int]) -> None:
    """Tell guests of themselves. Of very many at once, their clients ask for the state again."""
    if len(guests) > MAX_TOLD:
        tx.emit(realm_id, record(Audience(), "user_group", msgspec.Raw(b"{}"), ends=tuple(guests)))
        return
    for guest in guests:
        own = msgspec.structs.replace(to, realm=False, users=(guest,))
        _tell(tx, realm_id, own, op, group_id=group_id, user_ids=[guest])


def _without_guests(to: Audience) -> Audience:
    return msgspec.structs.replace(to, realm=False, members=True)


def _tell(tx: Transaction, realm_id: int, to: Audience, op: str, **keys: Any) -> None:
    tx.emit(realm_id, record(to, "user_group", {"op": op, **keys}))
