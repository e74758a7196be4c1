"""Events of folders: everybody in the realm hears them."""

from collections.abc import Mapping, Sequence
from typing import Any

from tertulia.conversations.folders.model import Folder
from tertulia.events.log.record import Audience, record
from tertulia.kernel.db import Transaction


def tell_created(tx: Transaction, realm_id: int, folder: Folder) -> None:
    """A folder is there."""
    _tell(tx, realm_id, "add", channel_folder=folder)


def tell_changed(tx: Transaction, realm_id: int, folder_id: int, data: Mapping[str, Any]) -> None:
    """A folder has another name or description, or came out of use or back."""
    _tell(tx, realm_id, "update", channel_folder_id=folder_id, data=data)


def tell_order(tx: Transaction, realm_id: int, order: Sequence[int]) -> None:
    """The folders have another order: all their ids, the place in the list is the new number."""
    _tell(tx, realm_id, "reorder", order=order)


def _tell(tx: Transaction, realm_id: int, op: str, **keys: Any) -> None:
    tx.emit(realm_id, record(Audience(realm=True), "channel_folder", {"op": op, **keys}))
