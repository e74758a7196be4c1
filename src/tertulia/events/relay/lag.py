"""How far the streams are behind the log, also while this relay cannot carry anything: that is when somebody must hear of it.

A session at work measures itself (pipeline.py). Between sessions, as while NATS is away, PostgreSQL is asked here on a connection
of its own: whether another relay has the slot, and if not, how much waits in it.
"""

import asyncio
import time
from contextlib import suppress
from typing import Any, Final

from tertulia.events.relay.metrics import LAG_BYTES, LAG_SECONDS
from tertulia.events.relay.replication import APPLICATION_NAME
from tertulia.kernel.postgres import Connector, work_limits
from tertulia.kernel.settings import Settings

MEASURE_SECONDS: Final = 1.0
CLOSE_SECONDS: Final = 1.0
ANSWER_SECONDS: Final = 5.0

# The relay's own note of what is stored (checkpoint.py): the slot itself is held back on purpose.
_WAITING = """
select active, pg_wal_lsn_diff(pg_current_wal_flush_lsn(), greatest(confirmed_flush_lsn,
    '0/0'::pg_lsn + coalesce((select seq from relay_checkpoint where shard = -1), 0)))::bigint as bytes
from pg_replication_slots where slot_name = $1
"""


class Lag:
    """The two gauges."""

    def __init__(self) -> None:
        self._whole_at = time.time()
        """When everything that was committed was stored; nobody knows of before this process."""

    def measured(self, missing_bytes: int, oldest_commit: float | None) -> None:
        """By whoever reads the log."""
        now = time.time()
        self._whole_at = min(now, oldest_commit or now)
        LAG_BYTES.set(missing_bytes)
        LAG_SECONDS.set(now - self._whole_at)

    def stands_still(self, missing_bytes: int | None) -> None:
        """Nobody reads the log. Without an answer of PostgreSQL the bytes stay as they were."""
        LAG_SECONDS.set(time.time() - self._whole_at)
        if missing_bytes is not None:
            LAG_BYTES.set(missing_bytes)


class LagWatch:
    """Measures while no session does."""

    def __init__(self, settings: Settings, lag: Lag) -> None:
        self._connector = Connector(settings.postgres_url, work_limits(settings))
        self._slot = settings.slot
        self._lag = lag
        self._pg: Any = None

    async def measure(self) -> None:
        """Ask once. What goes wrong is no more than an answer that is missing: a session says why."""
        found = None
        try:
            if self._pg is None:
                self._pg = await self._connector.connect(server_settings={"application_name": APPLICATION_NAME})
            found = await self._pg.fetchrow(_WAITING, self._slot, timeout=ANSWER_SECONDS)
        except Exception:
            await self.close()
        if found is not None and found["active"]:
            self._lag.measured(0, None)  # the other relay tells its own
        else:
            self._lag.stands_still(None if found is None else max(0, found["bytes"]))

    async def close(self) -> None:
        """Let go of the connection."""
        pg, self._pg = self._pg, None
        if pg is not None:
            with suppress(Exception):
                await asyncio.wait_for(pg.close(timeout=CLOSE_SECONDS), CLOSE_SECONDS * 2)
