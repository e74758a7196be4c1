"""Messages of a batch that link files: the files' owners hear of it, in the same transaction."""

from collections import defaultdict
from collections.abc import Sequence

import asyncpg

from tertulia.kernel.db import Connection, Transaction
from tertulia.messages.model import Outgoing
from tertulia.uploads.links import tell_linked


async def tell_attached(
    connection: Connection,
    batch: Sequence[Outgoing],
    rows: Sequence[asyncpg.Record],
    shards: int,
) -> None:
    """Tell of the links that the stored rows of a batch have made."""
    tx = Transaction(connection, shards)
    linked: defaultdict[int, set[int]] = defaultdict(set)
    for row in rows:
        message = batch[row["ord"] - 1]
        linked[message.realm_id] |= {file.id for file in message.attached}
    for realm_id, attachment_ids in sorted(linked.items()):
        await tell_linked(tx, realm_id, sorted(attachment_ids))
    await tx.flush()
