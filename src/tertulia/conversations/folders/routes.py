"""Endpoints of the folders feature."""

from typing import Annotated

import msgspec

from tertulia.conversations.folders import actions, queries
from tertulia.conversations.folders.model import Folder, FolderPlan
from tertulia.kernel.auth import Administrator, Person
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.endpoint import get, patch, post
from tertulia.kernel.errors import Refusal

FolderIds = Annotated[list[int], msgspec.Meta(max_length=10_000)]


class Folders(msgspec.Struct):
    """The answer of GET /channel_folders."""

    channel_folders: list[Folder]


class NewFolder(msgspec.Struct):
    """The answer of POST /channel_folders/create."""

    channel_folder_id: int


@get("/channel_folders")
async def get_folders(caller: Person, reader: Reader, *, include_archived: bool = False) -> Folders:
    """The organization's channel folders in their order."""
    return Folders(await queries.folders_of(reader, caller.realm_id, include_archived=include_archived))


@post("/channel_folders/create")
async def create_folder(caller: Administrator, tx: Transaction, *, name: str, description: str) -> NewFolder:
    """Make a channel folder. The description must be sent, and may be empty."""
    return NewFolder(await actions.create_folder(tx, caller, name, description))


@patch("/channel_folders")
async def order_folders(caller: Administrator, tx: Transaction, *, order: FolderIds) -> None:
    """Put the channel folders in an order: all their IDs, those of archived ones too, each once."""
    await actions.order_folders(tx, caller, order)


@patch("/channel_folders/{channel_folder_id}")
async def change_folder(
    caller: Administrator,
    tx: Transaction,
    *,
    channel_folder_id: int,
    name: str | None = None,
    description: str | None = None,
    is_archived: bool | None = None,
) -> None:
    """Change a channel folder, archive it (refused while it has channels), or unarchive it."""
    plan = FolderPlan(name, description, is_archived)
    if plan == FolderPlan():
        raise Refusal("Nothing to change was sent.")
    await actions.change_folder(tx, caller, channel_folder_id, plan)
