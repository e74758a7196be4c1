"""Events wait until what they tell can be read.

PostgreSQL sends a transaction through the slot as soon as its commit record is on disk. For whoever reads, it has happened
only a moment later: some microseconds, milliseconds on a busy machine, and where commits wait for a standby as long as that
takes. A client that asks at once for the message or the file of an event would hear that there is none.

One question covers whatever was committed before it: a relay that is behind asks once, and not once for each transaction.
"""

import asyncio
import time
from typing import Any, Final

import structlog

from tertulia.events.log.snapshot import Snapshot, parse_snapshot

FIRST_PAUSE_SECONDS: Final = 0.0005
LONGEST_PAUSE_SECONDS: Final = 0.05
LONG_SECONDS: Final = 5.0
QUESTION_SECONDS: Final = 10.0

log = structlog.get_logger("tertulia.events.relay.process")


class Visibility:
    """`pg` is a connection that nobody else uses: to the server whose log is read."""

    def __init__(self, pg: Any) -> None:
        self._pg = pg
        self._seen = Snapshot(0, 0, frozenset(), "")

    async def until_seen(self, xid: int) -> None:
        """Until new snapshots see that transaction, whose commit was read from the log."""
        if self._seen.sees(xid):
            return
        began, pause, told = time.monotonic(), FIRST_PAUSE_SECONDS, False
        while not (await self._look()).sees(xid):
            if not told and time.monotonic() - began > LONG_SECONDS:
                told = True
                log.warning("events wait for a commit that nobody can read yet")
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    async def _look(self) -> Snapshot:
        text = await self._pg.fetchval("select pg_current_snapshot()::text", timeout=QUESTION_SECONDS)
        self._seen = parse_snapshot(text, "0/0")
        return self._seen
