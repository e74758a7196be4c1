"""Which messages link which files. Under the locks of the message's conversation; files are held by id, in order."""

from collections.abc import Sequence

import msgspec

from tertulia.files.uploads.events import tell_updated
from tertulia.files.uploads.links import queries as link_queries
from tertulia.files.uploads.model import AttachmentRecord
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction


class Attached(msgspec.Struct, frozen=True, order=True):
    """A file that a text links."""

    id: int
    is_waiting: bool = False
    """The text shows that the picture's thumbnail is still being made."""
    shown_by: int | None = None
    """A message that shows the file to whoever links it; None: it is theirs."""


async def relink(
    tx: Transaction, caller: Caller, message_id: int, attached: Sequence[Attached]
) -> list[AttachmentRecord]:
    """A message has another text now; the files that no message links any more."""
    ids = [one.id for one in attached]
    before = await link_queries.linked_by(tx, [message_id])
    if not before and not ids:
        return []
    await link_queries.hold_files(tx, sorted({*before, *ids}))
    changed = await link_queries.replace_links(
        tx, message_id, ids, [one.is_waiting for one in attached], [one.shown_by for one in attached], caller.user_id
    )
    records = await tell_linked(tx, caller.realm_id, changed)
    return [record for record in records if not record.message_ids]


async def hold_linked(tx: Transaction, message_ids: Sequence[int]) -> None:
    """Messages are about to be deleted in several steps: hold all files they link at once, by id."""
    linked = await link_queries.linked_by(tx, message_ids)
    if linked:
        await link_queries.hold_files(tx, linked)


async def unlink(tx: Transaction, realm_id: int, message_ids: Sequence[int]) -> None:
    """Messages are about to be deleted."""
    linked = await link_queries.linked_by(tx, message_ids)
    if linked:
        await link_queries.hold_files(tx, linked)
        await tell_linked(tx, realm_id, await link_queries.delete_links(tx, message_ids))


async def tell_linked(tx: Transaction, realm_id: int, attachment_ids: Sequence[int]) -> list[AttachmentRecord]:
    """Tell the owners of files that other messages link them now than before."""
    if not attachment_ids:
        return []
    # Held first, looked at then: of two who link a file at once, the second tells of both.
    await link_queries.hold_files(tx, attachment_ids)
    owned = await link_queries.records(tx, attachment_ids)
    await tell_updated(tx, realm_id, owned)
    return [record for _, record in owned]
