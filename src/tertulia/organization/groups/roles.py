"""Who is in which system group because of their role: of everybody, and most who register ask.

Kept in memory by what it was made from: the number of the last change of the realm's users, which triggers count
(docs/decisions/0022), and what says how long newcomers wait. That is read in each snapshot, so nobody gets an older answer.
"""

from collections import OrderedDict
from collections.abc import Mapping

import msgspec

from tertulia.kernel.db import Reader
from tertulia.organization.groups import queries
from tertulia.organization.groups.system import SystemGroup, direct_groups

Members = Mapping[SystemGroup, list[int]]
"""The users who are in a system group directly, ascending. Groups without any are left out."""

MOST_KEPT = 1_000_000
"""Users, of all organizations together."""


class _Kept(msgspec.Struct, frozen=True):
    version: str
    members: Members
    size: int


class RoleMembers:
    """The users of organizations by their roles."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, _Kept] = OrderedDict()
        self._size = 0

    async def load(self, reader: Reader, realm_id: int) -> Members:
        """The active users of the realm, as of the reader's snapshot."""
        version = await queries.roles_version(reader, realm_id)
        kept = self._kept.get(realm_id)
        if kept is None or kept.version != version:
            kept = _kept(version, await queries.users_by_role(reader, realm_id))
        self._put(realm_id, kept)
        return kept.members

    def _put(self, realm_id: int, kept: _Kept) -> None:
        """The newest one of its realm, and the one that was used last."""
        old = self._kept.pop(realm_id, None)
        self._kept[realm_id] = kept
        self._size += kept.size - (0 if old is None else old.size)
        while self._size > MOST_KEPT and len(self._kept) > 1:
            self._size -= self._kept.popitem(last=False)[1].size


def _kept(version: str, users: list[tuple[int, bool, list[int]]]) -> _Kept:
    members: dict[SystemGroup, list[int]] = {}
    for role, waits, user_ids in users:
        for group in direct_groups(role, waiting=waits):
            members.setdefault(group, []).extend(user_ids)
    in_order = {group: sorted(user_ids) for group, user_ids in members.items()}
    return _Kept(version, in_order, sum(map(len, in_order.values())))
