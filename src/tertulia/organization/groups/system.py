"""The system groups: who belongs to them follows from the role alone (pure)."""

from enum import StrEnum
from typing import NamedTuple

from tertulia.kernel.auth import Role


class SystemGroup(StrEnum):
    """The groups every realm has, in the order of their ids: each but the first two contains the one before it."""

    NOBODY = "role:nobody"
    OWNERS = "role:owners"
    ADMINISTRATORS = "role:administrators"
    MODERATORS = "role:moderators"
    FULL_MEMBERS = "role:fullmembers"
    MEMBERS = "role:members"
    EVERYONE = "role:everyone"
    INTERNET = "role:internet"


class SystemGroupFacts(NamedTuple):
    """What is stored of a system group."""

    lowest_role: int
    is_for_full_members: bool
    own_role: int | None
    """The role of the direct members; everybody else belongs to the group through the one before it."""
    description: str


FACTS = {
    SystemGroup.NOBODY: SystemGroupFacts(0, False, None, "Nobody"),
    SystemGroup.OWNERS: SystemGroupFacts(Role.OWNER, False, Role.OWNER, "Owners"),
    SystemGroup.ADMINISTRATORS: SystemGroupFacts(
        Role.ADMINISTRATOR, False, Role.ADMINISTRATOR, "Administrators and owners"
    ),
    SystemGroup.MODERATORS: SystemGroupFacts(
        Role.MODERATOR, False, Role.MODERATOR, "Moderators, administrators and owners"
    ),
    SystemGroup.FULL_MEMBERS: SystemGroupFacts(
        Role.MEMBER, True, Role.MEMBER, "Members whose waiting period is over, and above"
    ),
    SystemGroup.MEMBERS: SystemGroupFacts(Role.MEMBER, False, Role.MEMBER, "Everyone in this organization but guests"),
    SystemGroup.EVERYONE: SystemGroupFacts(Role.GUEST, False, Role.GUEST, "Everyone in this organization, guests too"),
    SystemGroup.INTERNET: SystemGroupFacts(Role.GUEST, False, None, "Everyone on the Internet"),
}

_CHAIN = tuple(SystemGroup)[1:]


def held_group(group: SystemGroup) -> SystemGroup | None:
    """The one system group that is a direct subgroup of this one."""
    index = _CHAIN.index(group) if group in _CHAIN else 0
    return _CHAIN[index - 1] if index else None


def direct_groups(role: int, *, waiting: bool) -> list[SystemGroup]:
    """The system groups a user of this role is a direct member of: members are in two, unless they still wait."""
    return [
        group
        for group, facts in FACTS.items()
        if facts.own_role == role and not (facts.is_for_full_members and waiting)
    ]


def system_subgroups(group: SystemGroup) -> tuple[SystemGroup, ...]:
    """All system groups below this one."""
    return _CHAIN[: _CHAIN.index(group)] if group in _CHAIN else ()
