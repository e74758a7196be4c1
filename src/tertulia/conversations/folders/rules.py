"""Pure decisions about folders."""

from collections.abc import Sequence

import msgspec

from tertulia.content.markup import render_description
from tertulia.conversations.folders.model import Folder, FolderPlan
from tertulia.kernel.errors import Refusal
from tertulia.kernel.text import bad_character, name_key_of
from tertulia.organization.realms.limits import MAX_CHANNEL_FOLDER_DESCRIPTION_LENGTH, MAX_CHANNEL_FOLDER_NAME_LENGTH


def clean_folder_name(name: str) -> str:
    """A folder's name as it is stored; refuses what cannot be one."""
    name = name.strip()
    if not name:
        raise Refusal("A channel folder needs a name.")
    if len(name) > MAX_CHANNEL_FOLDER_NAME_LENGTH:
        raise Refusal(
            f"The name of the channel folder is too long (limit: {MAX_CHANNEL_FOLDER_NAME_LENGTH} characters)."
        )
    if (position := bad_character(name)) is not None:
        raise Refusal(f"Invalid character in the name of the channel folder, at position {position}.")
    return name


def clean_folder_description(description: str) -> str:
    """A folder's description as it is stored; refuses one that is too long."""
    if len(description) > MAX_CHANNEL_FOLDER_DESCRIPTION_LENGTH:
        limit = MAX_CHANNEL_FOLDER_DESCRIPTION_LENGTH
        raise Refusal(f"The description of the channel folder is too long (limit: {limit} characters).")
    return description


def changed_folder(folder: Folder, plan: FolderPlan) -> Folder:
    """The folder as somebody wants it."""
    name = folder.name if plan.name is None else clean_folder_name(plan.name)
    is_archived = folder.is_archived if plan.is_archived is None else plan.is_archived
    if plan.description is None or plan.description == folder.description:
        return msgspec.structs.replace(folder, name=name, is_archived=is_archived)
    description = clean_folder_description(plan.description)
    rendered = render_description(description)
    return msgspec.structs.replace(
        folder, name=name, description=description, rendered_description=rendered, is_archived=is_archived
    )


def check_name_is_free(name: str, others: Sequence[Folder]) -> None:
    """Refuse the name of another folder in use."""
    if any(name_key_of(other.name) == name_key_of(name) for other in others if not other.is_archived):
        raise Refusal(f"There is a channel folder named '{name}' already.")


def check_order(order: Sequence[int], folders: Sequence[Folder]) -> None:
    """Refuse anything but all folders, archived ones too, each once."""
    if len(order) != len(folders) or set(order) != {folder.id for folder in folders}:
        raise Refusal("The order has to name every channel folder, archived ones too, once.")


def no_such_folder() -> Refusal:
    """The refusal for a folder that does not exist."""
    return Refusal("Invalid channel folder ID")
