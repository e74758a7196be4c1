"""What administrators can do to folders."""

from collections.abc import Sequence

import msgspec

from tertulia.content.markup import render_description
from tertulia.conversations.folders import queries
from tertulia.conversations.folders.bounds import FOLDERS
from tertulia.conversations.folders.events import tell_changed, tell_created, tell_order
from tertulia.conversations.folders.model import Folder, FolderPlan
from tertulia.conversations.folders.rules import (
    changed_folder,
    check_name_is_free,
    check_order,
    clean_folder_description,
    clean_folder_name,
    no_such_folder,
)
from tertulia.kernel.auth import Caller, check_administrator
from tertulia.kernel.bounds import check_count
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.organization.audit_log import Act, differences, note, realm
from tertulia.people.users.queries import lock_accounts


async def create_folder(tx: Transaction, caller: Caller, name: str, description: str) -> int:
    """Make a folder, the last one; returns its id."""
    name = clean_folder_name(name)
    description = clean_folder_description(description)
    check_name_is_free(name, await _hold(tx, caller))
    texts = description, render_description(description)
    await check_count(tx, FOLDERS, caller.realm_id)
    folder = await queries.insert_folder(tx, caller.realm_id, caller.user_id, name, texts)
    tell_created(tx, caller.realm_id, folder)
    note(tx, caller.realm_id, Act.FOLDER_CREATED, ("folder", folder.id), name=(None, name))
    return folder.id


async def change_folder(tx: Transaction, caller: Caller, folder_id: int, plan: FolderPlan) -> None:
    """Change a folder, all or nothing."""
    folders = await _hold(tx, caller)
    old = next((folder for folder in folders if folder.id == folder_id), None)
    if old is None:
        raise no_such_folder()
    new = changed_folder(old, plan)
    if new == old:
        return
    if not new.is_archived:
        check_name_is_free(new.name, [folder for folder in folders if folder.id != folder_id])
    elif not old.is_archived:
        await _check_empty(tx, caller.realm_id, folder_id)
    await queries.update_folder(tx, new)
    before, after = msgspec.structs.asdict(old), msgspec.structs.asdict(new)
    tell_changed(tx, caller.realm_id, folder_id, {key: after[key] for key in after if after[key] != before[key]})
    note(tx, caller.realm_id, Act.FOLDER_CHANGED, ("folder", folder_id), **differences(before, after))


async def order_folders(tx: Transaction, caller: Caller, order: Sequence[int]) -> None:
    """Put the folders in this order."""
    folders = await _hold(tx, caller)
    check_order(order, folders)
    if [(folder.id, folder.order) for folder in folders] == [(id, place) for place, id in enumerate(order)]:
        return
    await queries.set_order(tx, order)
    tell_order(tx, caller.realm_id, order)
    was = [folder.id for folder in folders]
    note(tx, caller.realm_id, Act.FOLDER_CHANGED, realm(caller.realm_id), order=(was, list(order)))


async def _hold(tx: Transaction, caller: Caller) -> list[Folder]:
    """The realm's folders, for an administrator to change. Who is one is asked when nobody can change it any more."""
    await queries.lock_folders(tx, caller.realm_id)
    actor = (await lock_accounts(tx, caller.realm_id, [caller.user_id])).get(caller.user_id)
    if actor is None or not actor.is_active:
        raise Refusal("Insufficient permission")
    check_administrator(msgspec.structs.replace(caller, role=actor.role))
    return await queries.folders_of(tx, caller.realm_id)


async def _check_empty(tx: Transaction, realm_id: int, folder_id: int) -> None:
    await queries.lock_folder(tx, folder_id)
    if await queries.has_channels(tx, realm_id, folder_id):
        raise Refusal("There are channels in this folder: take them out before you archive it.")
