"""Rows that messages cost, from PostgreSQL's own counters."""

import asyncio
import time

from bench.stage import Stage

_COUNTS = """
select relname, n_tup_ins as inserted, n_tup_upd as updated, n_tup_del as deleted from pg_stat_user_tables
-- The relay's memory is written once a second, however many messages there were.
where relname not like 'relay%'
"""
FLUSH_SECONDS = 30.0

Counts = dict[str, tuple[int, int, int]]


async def count_rows(stage: Stage) -> Counts:
    rows = await stage.sql(_COUNTS)
    return {row["relname"]: (row["inserted"], row["updated"], row["deleted"]) for row in rows}


async def rows_since(stage: Stage, before: Counts, messages: int) -> Counts:
    """What has changed, once the counters know of that many messages: a backend reports them up to ten seconds late."""
    deadline = time.monotonic() + FLUSH_SECONDS
    while True:
        now = await count_rows(stage)
        if now["message"][0] - before["message"][0] >= messages:
            break
        if time.monotonic() > deadline:
            raise TimeoutError("PostgreSQL's counters did not move")
        await asyncio.sleep(0.2)
    changed = {name: tuple(a - b for a, b in zip(now[name], before[name], strict=True)) for name in now}
    return {name: (delta[0], delta[1], delta[2]) for name, delta in changed.items() if any(delta)}
