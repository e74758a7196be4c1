"""Groups: the row as actions need it, and the record of the API (protocol/records.md#user-group)."""

import msgspec

from tertulia.organization.groups.settings import GROUP_SETTINGS
from tertulia.organization.groups.values import GroupValue


class Group(msgspec.Struct, frozen=True):
    """A named group."""

    id: int
    realm_id: int
    name: str
    description: str
    is_system: bool
    is_deactivated: bool
    creator_id: int | None
    date_created: int | None
    can_add_members_group: int
    can_join_group: int
    can_leave_group: int
    can_manage_group: int
    can_mention_group: int
    can_remove_members_group: int

    @property
    def holders(self) -> dict[str, int]:
        """The group that holds each of this group's settings."""
        return {setting: getattr(self, setting) for setting in GROUP_SETTINGS}


class GroupRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A group as the API shows it."""

    id: int
    name: str
    description: str
    date_created: int | None
    creator_id: int | None
    members: list[int]
    direct_subgroup_ids: list[int]
    is_system_group: bool
    can_add_members_group: GroupValue
    can_join_group: GroupValue
    can_leave_group: GroupValue
    can_manage_group: GroupValue
    can_mention_group: GroupValue
    can_remove_members_group: GroupValue
    deactivated: bool

    def with_members(self, members: list[int]) -> "GroupRecord":
        """The same group with other members."""
        return msgspec.structs.replace(self, members=members)
