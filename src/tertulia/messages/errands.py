"""What a message sets off for the worker: calls to bots' servers, pushes to browsers. Written in the transaction that sends it.

Most messages set off nothing and cost nothing here. The packages `hooks` and `pushes` do the work.
"""

from collections.abc import Sequence

import asyncpg

from tertulia.kernel.db import Connection
from tertulia.messages.model import Outgoing

_HOOKS = """
insert into hook_call (bot_id, message_id)
select bot_id, message_id from unnest($1::bigint[], $2::bigint[]) as addressed(bot_id, message_id)
order by message_id, bot_id on conflict do nothing
"""
_PUSHES = "insert into push_due (message_id) select unnest($1::bigint[])"


async def note_errands(
    connection: Connection,
    batch: Sequence[Outgoing],
    rows: Sequence[asyncpg.Record],
) -> None:
    """Write down what follows from what was stored. `rows` are those of the sending statement."""
    if not any(out.webhooks or out.may_push for out in batch):
        return
    # A repeat of what was sent before emits nothing: what it set off, it set off then.
    new = [(row["id"], batch[row["ord"] - 1]) for row in rows if row["pg_logical_emit_message"] is not None]
    calls = [(bot_id, message_id) for message_id, out in new for bot_id in out.webhooks]
    if calls:
        await connection.execute(_HOOKS, [bot_id for bot_id, _ in calls], [message_id for _, message_id in calls])
    if pushed := [message_id for message_id, out in new if out.may_push]:
        await connection.execute(_PUSHES, pushed)
