"""Events of groups, and who hears them.

Everybody in the realm hears of groups, guests too: without them no client could show a mention. A deactivated group does
not exist for clients that never said they know such groups, so they hear nothing about one.
"""

from collections.abc import Sequence
from typing import Any

from tertulia.events.record import Audience, record
from tertulia.groups.model import GroupRecord
from tertulia.groups.values import GroupValue
from tertulia.kernel.db import Transaction

KNOWS_DEACTIVATED = "include_deactivated_groups"
MAX_IDS = 10_000
"""So many members in one event at most: an event must fit into a message of the log."""

_ALL = Audience(realm=True)
_KNOWING = Audience(realm=True, needs=KNOWS_DEACTIVATED)
_OTHERS = Audience(realm=True, lacks=KNOWS_DEACTIVATED)


def tell_created(tx: Transaction, realm_id: int, group: GroupRecord) -> None:
    """A group is there. Its subgroups are told separately."""
    _tell_added(tx, realm_id, _ALL, group, {})


def tell_updated(tx: Transaction, realm_id: int, group_id: int, data: dict[str, Any], *, is_deactivated: bool) -> None:
    """A property of a group has changed."""
    _tell(tx, realm_id, _KNOWING if is_deactivated else _ALL, "update", group_id=group_id, data=data)


def tell_deactivated(tx: Transaction, realm_id: int, group_id: int) -> None:
    """A group is out of use: some see its new state, for the others it is gone."""
    _tell(tx, realm_id, _KNOWING, "update", group_id=group_id, data={"deactivated": True})
    _tell(tx, realm_id, _OTHERS, "remove", group_id=group_id)


def tell_reactivated(tx: Transaction, realm_id: int, group: GroupRecord) -> None:
    """A group is back in use: for some it comes into being."""
    _tell(tx, realm_id, _KNOWING, "update", group_id=group.id, data={"deactivated": False})
    _tell_added(tx, realm_id, _OTHERS, group, {"for_reactivation": True})


def tell_members(
    tx: Transaction, realm_id: int, op: str, group_id: int, user_ids: Sequence[int], *, is_deactivated: bool = False
) -> None:
    """Direct members came (`add_members`) or went (`remove_members`)."""
    to = _KNOWING if is_deactivated else _ALL
    for start in range(0, len(user_ids), MAX_IDS):
        _tell(tx, realm_id, to, op, group_id=group_id, user_ids=user_ids[start : start + MAX_IDS])


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


def _tell_added(tx: Transaction, realm_id: int, to: Audience, group: GroupRecord, more: dict[str, Any]) -> None:
    first = group.with_members(group.members[:MAX_IDS])
    _tell(tx, realm_id, to, "add", group=first, **more)
    for start in range(MAX_IDS, len(group.members), MAX_IDS):
        ids = group.members[start : start + MAX_IDS]
        _tell(tx, realm_id, to, "add_members", group_id=group.id, user_ids=ids)


def _tell(tx: Transaction, realm_id: int, to: Audience, op: str, **keys: Any) -> None:
    tx.emit(realm_id, record(to, "user_group", {"op": op, **keys}))
