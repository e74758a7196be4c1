"""`attachment` events: each owner hears of their own files."""

from collections.abc import Sequence

from tertulia.events.log.record import Audience, record
from tertulia.files.uploads import queries
from tertulia.files.uploads.model import AttachmentRecord
from tertulia.kernel.db import Transaction


def tell_added(tx: Transaction, realm_id: int, owner_id: int, added: AttachmentRecord, used: int) -> None:
    """A file is there."""
    _tell(tx, realm_id, owner_id, {"op": "add", "attachment": added, "upload_space_used": used})


def tell_removed(tx: Transaction, realm_id: int, owner_id: int, attachment_id: int, used: int) -> None:
    """A file is gone."""
    _tell(tx, realm_id, owner_id, {"op": "remove", "attachment": {"id": attachment_id}, "upload_space_used": used})


async def tell_updated(tx: Transaction, realm_id: int, changed: Sequence[tuple[int, AttachmentRecord]]) -> None:
    """Other messages link files now than before."""
    # Not held: everybody who sends a file would wait for whoever uploads one. The next event of a file has the figure of then.
    used = await queries.space_used(tx, realm_id)
    for owner_id, attachment in changed:
        _tell(tx, realm_id, owner_id, {"op": "update", "attachment": attachment, "upload_space_used": used})


def _tell(tx: Transaction, realm_id: int, owner_id: int, event: dict[str, object]) -> None:
    tx.emit(realm_id, record(Audience(users=(owner_id,)), "attachment", event))
