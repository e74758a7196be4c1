"""Pure decisions about groups: what permits which action, and which names groups may have."""

from enum import StrEnum
from typing import NamedTuple

from tertulia.kernel.errors import Refusal, Taken
from tertulia.kernel.text import bad_character

MAX_NAME_LENGTH = 100
MAX_DESCRIPTION_LENGTH = 10_000
RESERVED_PREFIXES = ("@", "role:", "user:", "stream:", "channel:")
"""What mentions and system groups start with."""


class GroupAction(StrEnum):
    """What people do to groups."""

    MANAGE = "manage"
    """Rename, describe, change settings, deactivate, reactivate, remove subgroups."""
    ADD_MEMBERS = "add members"
    """Add members and subgroups."""
    REMOVE_MEMBERS = "remove members"
    JOIN = "join"
    LEAVE = "leave"
    MENTION = "mention"


class Permits(NamedTuple):
    """The permissions of which one is enough for an action."""

    group_settings: tuple[str, ...]
    realm_settings: tuple[str, ...] = ("can_manage_all_groups",)


PERMITS = {
    GroupAction.MANAGE: Permits(("can_manage_group",)),
    GroupAction.ADD_MEMBERS: Permits(("can_manage_group", "can_add_members_group")),
    GroupAction.REMOVE_MEMBERS: Permits(("can_manage_group", "can_remove_members_group")),
    GroupAction.JOIN: Permits(("can_manage_group", "can_add_members_group", "can_join_group")),
    GroupAction.LEAVE: Permits(("can_manage_group", "can_remove_members_group", "can_leave_group")),
    GroupAction.MENTION: Permits(("can_mention_group",), ()),
}


def check_group_name(name: str) -> None:
    """Refuse what cannot be a group's name. It is stored as it is sent: mentions must match it exactly."""
    if not name.strip():
        raise Refusal("A user group needs a name.")
    if len(name) > MAX_NAME_LENGTH:
        raise Refusal(f"The name of a user group is too long (limit: {MAX_NAME_LENGTH} characters).")
    if (position := bad_character(name)) is not None:
        raise Refusal(f"Invalid character in the name of the user group, at position {position}.")
    for prefix in RESERVED_PREFIXES:
        if name.startswith(prefix):
            raise Refusal(f"The name of a user group can't start with '{prefix}'.")


def name_taken(name: str) -> Refusal:
    """The refusal for a name that another group of the realm has. Clients look for `already exists`."""
    return Taken(f"A user group named '{name}' already exists.")


def action_on_members(user_ids: list[int], own_id: int, *, adding: bool) -> GroupAction:
    """Whoever adds or removes nobody but themselves joins or leaves."""
    if user_ids == [own_id]:
        return GroupAction.JOIN if adding else GroupAction.LEAVE
    return GroupAction.ADD_MEMBERS if adding else GroupAction.REMOVE_MEMBERS


def no_such_group() -> Refusal:
    """The refusal whose text clients know (update-user-group.invalid)."""
    return Refusal("Invalid user group")


def group_deactivated() -> Refusal:
    """What only groups in use can do."""
    return Refusal("This user group is deactivated.")
