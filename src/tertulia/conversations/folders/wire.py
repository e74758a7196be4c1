"""What clients see of folders of channels."""

from typing import Literal

import msgspec
from msgspec import UNSET

from tertulia.conversations.folders.model import Folder
from tertulia.events.wire import Event, Unset


class ChannelFolderAddEvent(Event, frozen=True, kw_only=True):
    """A channel folder was created."""

    type: Literal["channel_folder"]
    op: Literal["add"]
    channel_folder: Folder


class FolderChange(msgspec.Struct, frozen=True, kw_only=True):
    """What changed about a folder."""

    name: str | Unset = UNSET
    description: str | Unset = UNSET
    rendered_description: str | Unset = UNSET
    is_archived: bool | Unset = UNSET


class ChannelFolderUpdateEvent(Event, frozen=True, kw_only=True):
    """A channel folder changed."""

    type: Literal["channel_folder"]
    op: Literal["update"]
    channel_folder_id: int
    data: FolderChange


class ChannelFolderReorderEvent(Event, frozen=True, kw_only=True):
    """The order of the channel folders changed: all their IDs."""

    type: Literal["channel_folder"]
    op: Literal["reorder"]
    order: list[int]


KEYS = {
    "channel_folders": list[Folder],
}
