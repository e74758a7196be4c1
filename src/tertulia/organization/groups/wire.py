"""What clients see of user groups."""

from typing import Literal

import msgspec
from msgspec import UNSET

from tertulia.events.wire import Event, Unset
from tertulia.organization.groups.model import GroupRecord
from tertulia.organization.groups.values import GroupValue


class UserGroupAddEvent(Event, frozen=True, kw_only=True):
    """A group was created; for clients that do not see deactivated groups, also: it was reactivated."""

    type: Literal["user_group"]
    op: Literal["add"]
    group: GroupRecord
    for_reactivation: bool | Unset = UNSET


class GroupChange(msgspec.Struct, frozen=True, kw_only=True):
    """What changed about a group."""

    name: str | Unset = UNSET
    description: str | Unset = UNSET
    deactivated: bool | Unset = UNSET
    can_add_members_group: GroupValue | Unset = UNSET
    can_join_group: GroupValue | Unset = UNSET
    can_leave_group: GroupValue | Unset = UNSET
    can_manage_group: GroupValue | Unset = UNSET
    can_mention_group: GroupValue | Unset = UNSET
    can_remove_members_group: GroupValue | Unset = UNSET


class UserGroupUpdateEvent(Event, frozen=True, kw_only=True):
    """A group changed."""

    type: Literal["user_group"]
    op: Literal["update"]
    group_id: int
    data: GroupChange


class UserGroupRemoveEvent(Event, frozen=True, kw_only=True):
    """A group was deactivated, for clients that do not see deactivated groups."""

    type: Literal["user_group"]
    op: Literal["remove"]
    group_id: int


class UserGroupMembersEvent(Event, frozen=True, kw_only=True):
    """Users were added to a group as direct members, or removed."""

    type: Literal["user_group"]
    op: Literal["add_members", "remove_members"]
    group_id: int
    user_ids: list[int]


class UserGroupSubgroupsEvent(Event, frozen=True, kw_only=True):
    """Groups were added to a group as direct subgroups, or removed."""

    type: Literal["user_group"]
    op: Literal["add_subgroups", "remove_subgroups"]
    group_id: int
    direct_subgroup_ids: list[int]


KEYS = {
    "realm_user_groups": list[GroupRecord],
}
