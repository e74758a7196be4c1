"""Events of channels, subscriptions, folders and groups."""

from typing import Literal

import msgspec
from msgspec import UNSET

from tertulia.catalogue.base import Event, Unset
from tertulia.channels.model import ChannelRecord, SubscriptionRecord
from tertulia.folders.model import Folder
from tertulia.groups.model import GroupRecord
from tertulia.groups.values import GroupValue


class StreamCreateEvent(Event, frozen=True, kw_only=True):
    """Channels came to be, or into sight."""

    type: Literal["stream"]
    op: Literal["create"]
    streams: list[ChannelRecord]
    for_unarchiving: bool | Unset = UNSET


class GoneChannel(msgspec.Struct, frozen=True):
    """A channel by its ID alone."""

    stream_id: int


class StreamDeleteEvent(Event, frozen=True, kw_only=True):
    """Channels are gone, or out of sight."""

    type: Literal["stream"]
    op: Literal["delete"]
    stream_ids: list[int]
    streams: list[GoneChannel]
    for_archiving: bool | Unset = UNSET


class StreamUpdateEvent(Event, frozen=True, kw_only=True):
    """A property of a channel is another now."""

    type: Literal["stream"]
    op: Literal["update"]
    stream_id: int
    name: str
    property: str
    value: bool | int | str | GroupValue | None
    rendered_description: str | Unset = UNSET
    history_public_to_subscribers: bool | Unset = UNSET
    is_web_public: bool | Unset = UNSET


class SubscriptionAddEvent(Event, frozen=True, kw_only=True):
    """One is subscribed."""

    type: Literal["subscription"]
    op: Literal["add"]
    subscriptions: list[SubscriptionRecord]


class LeftChannel(msgspec.Struct, frozen=True):
    """A channel one has left."""

    stream_id: int
    name: str


class SubscriptionRemoveEvent(Event, frozen=True, kw_only=True):
    """One is no longer subscribed."""

    type: Literal["subscription"]
    op: Literal["remove"]
    subscriptions: list[LeftChannel]


class SubscriptionUpdateEvent(Event, frozen=True, kw_only=True):
    """A property of one's own subscription is another now."""

    type: Literal["subscription"]
    op: Literal["update"]
    stream_id: int
    property: str
    value: bool | str | None


class SubscriptionPeersEvent(Event, frozen=True, kw_only=True):
    """Others came or went."""

    type: Literal["subscription"]
    op: Literal["peer_add", "peer_remove"]
    stream_ids: list[int]
    user_ids: list[int]


class DefaultStreamsEvent(Event, frozen=True, kw_only=True):
    """All channels that newcomers join."""

    type: Literal["default_streams"]
    default_streams: list[int]


class ChannelFolderAddEvent(Event, frozen=True, kw_only=True):
    """A folder is there."""

    type: Literal["channel_folder"]
    op: Literal["add"]
    channel_folder: Folder


class FolderChange(msgspec.Struct, frozen=True, kw_only=True):
    """What is another about a folder."""

    name: str | Unset = UNSET
    description: str | Unset = UNSET
    rendered_description: str | Unset = UNSET
    is_archived: bool | Unset = UNSET


class ChannelFolderUpdateEvent(Event, frozen=True, kw_only=True):
    """A folder is another now."""

    type: Literal["channel_folder"]
    op: Literal["update"]
    channel_folder_id: int
    data: FolderChange


class ChannelFolderReorderEvent(Event, frozen=True, kw_only=True):
    """The folders have another order."""

    type: Literal["channel_folder"]
    op: Literal["reorder"]
    order: list[int]


class UserGroupAddEvent(Event, frozen=True, kw_only=True):
    """A group is there."""

    type: Literal["user_group"]
    op: Literal["add"]
    group: GroupRecord
    for_reactivation: bool | Unset = UNSET


class GroupChange(msgspec.Struct, frozen=True, kw_only=True):
    """What is another about a group."""

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
    """A group is another now."""

    type: Literal["user_group"]
    op: Literal["update"]
    group_id: int
    data: GroupChange


class UserGroupRemoveEvent(Event, frozen=True, kw_only=True):
    """A group is gone."""

    type: Literal["user_group"]
    op: Literal["remove"]
    group_id: int


class UserGroupMembersEvent(Event, frozen=True, kw_only=True):
    """Members came or went."""

    type: Literal["user_group"]
    op: Literal["add_members", "remove_members"]
    group_id: int
    user_ids: list[int]


class UserGroupSubgroupsEvent(Event, frozen=True, kw_only=True):
    """Subgroups came or went."""

    type: Literal["user_group"]
    op: Literal["add_subgroups", "remove_subgroups"]
    group_id: int
    direct_subgroup_ids: list[int]
