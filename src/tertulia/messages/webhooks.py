"""Bots that a message addresses and whose servers are to be called: written down in the transaction that sends it.

Most messages address none and cost nothing here. The worker makes the calls (package `hooks`).
"""

from collections.abc import Sequence
from typing import TypeAlias

import asyncpg

from tertulia.messages.model import Outgoing

Pooled: TypeAlias = "asyncpg.pool.PoolConnectionProxy[asyncpg.Record]"

_NOTE = """
insert into hook_call (bot_id, message_id)
select bot_id, message_id from unnest($1::bigint[], $2::bigint[]) as addressed(bot_id, message_id)
order by message_id, bot_id on conflict do nothing
"""


async def note_webhooks(
    connection: "asyncpg.Connection[asyncpg.Record] | Pooled",
    batch: Sequence[Outgoing],
    rows: Sequence[asyncpg.Record],
) -> None:
    """Write down the calls of what was stored. `rows` are those of the sending statement."""
    if not any(out.webhooks for out in batch):
        return
    # A repeat of what was sent before has no topic and no event: its calls were made then.
    new = [row for row in rows if row["pg_logical_emit_message"] is not None]
    calls = [(bot_id, row["id"]) for row in new for bot_id in batch[row["ord"] - 1].webhooks]
    if calls:
        await connection.execute(_NOTE, [bot_id for bot_id, _ in calls], [message_id for _, message_id in calls])
