"""The system groups: who belongs to them follows from the role alone (pure)."""

from enum import StrEnum

from tertulia.kernel.auth import Role


class SystemGroup(StrEnum):
    """The groups every realm has, from the most to the least people."""

    INTERNET = "role:internet"
    EVERYONE = "role:everyone"
    MEMBERS = "role:members"
    FULL_MEMBERS = "role:fullmembers"
    MODERATORS = "role:moderators"
    ADMINISTRATORS = "role:administrators"
    OWNERS = "role:owners"
    NOBODY = "role:nobody"


DESCRIPTIONS = {
    SystemGroup.INTERNET: "Everyone on the Internet",
    SystemGroup.EVERYONE: "Everyone in this organization, guests too",
    SystemGroup.MEMBERS: "Members, without guests",
    SystemGroup.FULL_MEMBERS: "Members whose waiting period is over",
    SystemGroup.MODERATORS: "Moderators, administrators and owners",
    SystemGroup.ADMINISTRATORS: "Administrators and owners",
    SystemGroup.OWNERS: "Owners",
    SystemGroup.NOBODY: "Nobody",
}

_LOWEST_ROLE = {
    SystemGroup.INTERNET: Role.GUEST,
    SystemGroup.EVERYONE: Role.GUEST,
    SystemGroup.MEMBERS: Role.MEMBER,
    SystemGroup.FULL_MEMBERS: Role.MEMBER,
    SystemGroup.MODERATORS: Role.MODERATOR,
    SystemGroup.ADMINISTRATORS: Role.ADMINISTRATOR,
    SystemGroup.OWNERS: Role.OWNER,
}


def is_system_member(group: SystemGroup, role: int, *, waiting: bool = False) -> bool:
    """Whether a user of this role belongs to the group; `waiting`: a member whose waiting period is not over."""
    lowest = _LOWEST_ROLE.get(group)
    if lowest is None:
        return False
    if group is SystemGroup.FULL_MEMBERS and waiting and role == Role.MEMBER:
        return False
    return role <= lowest
