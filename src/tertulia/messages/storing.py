"""Writing a batch of messages whose conversations are held.

Which files the senders may link is asked first, and only where any are linked. As a part of the large statement the
question cost every message: 540 instead of 240 microseconds of PostgreSQL, 1,100 instead of 2,800 messages a second
(`bin/bench send --quick`), because the planner chose another way to join all the rest.
"""

from collections.abc import Sequence

import asyncpg

from tertulia.kernel.db import Connection, Reader
from tertulia.messages.model import Outgoing
from tertulia.messages.statements import SEND, columns
from tertulia.uploads.queries import within_reach


async def store(connection: Connection, batch: Sequence[Outgoing], shards: int) -> list[asyncpg.Record]:
    """Store messages; of those that the rules refuse there is no row."""
    return await connection.fetch(SEND, *columns(batch, shards, await _files(connection, batch)))


async def _files(connection: Connection, batch: Sequence[Outgoing]) -> list[tuple[int, int | None, bool]]:
    """Files that messages link, each with the number of its message. One that is deleted after this is a broken reference."""
    linked = [(ord, out.sender_id, file) for ord, out in enumerate(batch, start=1) for file in out.attached]
    if not linked:
        return []
    found = await within_reach(Reader(connection), [(sender_id, file.id) for _, sender_id, file in linked])
    return [(ord, file_id, file.is_waiting) for (ord, _, file), file_id in zip(linked, found, strict=True)]
