"""Pure decisions: what somebody is given for being in groups elsewhere, and how many leavers are too many."""

from collections.abc import Collection, Sequence

import msgspec

from tertulia.kernel.auth import Role
from tertulia.kernel.login_settings import ROLES, Membership, role_given_by

FEW_LEAVERS = 3
"""So many go at once whatever share of all they are: in a small organization one person is many percent."""


class Standing(msgspec.Struct, frozen=True):
    """What somebody should be here, as far as a directory decides it."""

    groups: frozenset[str]
    """Names of groups they should be in."""
    decided: frozenset[str]
    """Names of all groups that the directory decides about."""
    role: int | None
    """None: no group of theirs has one."""
    roles: frozenset[int]
    """All roles that the directory gives."""


def standing_of(memberships: Sequence[Membership], belongs: Collection[str]) -> Standing:
    """What is due to somebody who belongs to these groups elsewhere. Of several roles the highest counts."""
    due = [membership for membership in memberships if membership.where in belongs]
    return Standing(
        groups=frozenset(membership.group for membership in due if membership.group),
        decided=frozenset(membership.group for membership in memberships if membership.group),
        role=role_given_by(due),
        roles=frozenset(ROLES[membership.role] for membership in memberships if membership.role),
    )


def role_after(role: int, standing: Standing) -> int:
    """The role that somebody should have. One that a directory gives is lost with the group; others are left alone."""
    if role == Role.OWNER:
        return role
    if standing.role is not None:
        return standing.role
    return Role.MEMBER if role in standing.roles else role


def allowed_leavers(known: int, percent: int) -> int:
    """How many of the people from a directory may leave at once without somebody saying that it is right."""
    return max(FEW_LEAVERS, known * percent // 100)
