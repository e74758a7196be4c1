"""Folders as the API shows them."""

import msgspec


class Folder(msgspec.Struct, frozen=True):
    """A folder of channels (protocol/records.md#folder)."""

    id: int
    name: str
    description: str
    rendered_description: str
    order: int
    creator_id: int | None
    date_created: int
    is_archived: bool


class FolderPlan(msgspec.Struct, frozen=True):
    """What somebody wants a folder to be; None means as it is."""

    name: str | None = None
    description: str | None = None
    is_archived: bool | None = None
