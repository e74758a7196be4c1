"""The relay's beat, which tells a web process whether its NATS server is one of the others still.

A server that was cut off from the rest of its cluster keeps its connections and answers what it is asked, and nothing new comes
from it. Who is connected to it would hear nothing until it is back. So the active relay says each second that it is there, to
all; who has heard that, and hears it no more, tries another server.

Lifecycle: `beating` for as long as a relay is active, `BeatWatch.run` for as long as a web process lives.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import nats.errors
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg

log = structlog.get_logger()

SUBJECT = "relay.beat"
BEAT_SECONDS = 1.0
SILENT_SECONDS, LONGEST_SECONDS, TURNS = 4.0, 60.0, 4
"""It may be the relay that is away, or all of NATS: when each server was tried, the next turn takes its time."""


@asynccontextmanager
async def beating(nc: Client) -> AsyncIterator[None]:
    """Say that this relay is active."""

    async def beat() -> None:
        while True:
            try:
                await nc.publish(SUBJECT, b"")
            except nats.errors.Error:
                return  # the session notices by itself
            await asyncio.sleep(BEAT_SECONDS)

    task = asyncio.create_task(beat())
    try:
        yield
    finally:
        task.cancel()


class BeatWatch:
    """Leaves a NATS server at which no beat is heard any more."""

    def __init__(self, nc: Client) -> None:
        self._nc = nc
        self._heard_at: float | None = None
        self._left = 0
        """How many servers, since a beat was heard."""

    async def run(self) -> None:
        """Until cancelled."""
        await self._nc.subscribe(SUBJECT, cb=self._hear)
        while True:
            slept_at = time.monotonic()
            await asyncio.sleep(BEAT_SECONDS)
            if time.monotonic() - slept_at > 2 * BEAT_SECONDS:
                continue  # this process stood still: what came meanwhile has not been heard yet
            if self._is_silent() and self._nc.is_connected and len(self._nc.servers) > 1:
                log.warning("no sign of the relay at this NATS server, another one is tried", seconds=self._patience)
                self._heard_at = time.monotonic()
                self._left += 1
                await self._nc.force_reconnect()

    @property
    def _patience(self) -> float:
        turns: int = self._left // len(self._nc.servers)
        return SILENT_SECONDS * 2**turns if turns < TURNS else LONGEST_SECONDS

    def _is_silent(self) -> bool:
        """Never, where no relay beats: it may be one of an older version."""
        return self._heard_at is not None and time.monotonic() - self._heard_at > self._patience

    async def _hear(self, _msg: Msg) -> None:
        self._heard_at = time.monotonic()
        self._left = 0
