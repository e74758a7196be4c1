"""The relay's beat, which tells a web process whether its NATS server is one of the others still.

A server that was cut off from the rest of its cluster keeps its connections and answers what it is asked, and nothing new comes
from it. Who is connected to it would hear nothing until it is back. So the active relay says each second that it is there, to
all. Who has heard that, and hears it no more, tries to store something: that takes a majority. If it is stored, it is the relay
that is away, and otherwise another server is tried.

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

from tertulia.events.log.buckets import check_stores
from tertulia.events.log.jetstream import StreamUnavailable

log = structlog.get_logger()

SUBJECT = "relay.beat"
BEAT_SECONDS = 1.0
SILENT_SECONDS = 4.0
LONGEST_SECONDS, TURNS = 60.0, 4
"""If nothing can be stored at any server, the next turn takes its time."""


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
    """Leaves a NATS server at which no beat is heard any more, and nothing can be stored."""

    def __init__(self, nc: Client) -> None:
        self._nc = nc
        self._look_at: float | None = None
        """When to see whether something is stored. Never, where no relay beats: it may be one of an older version."""
        self._left = 0
        """How many servers, since one was good."""

    async def run(self) -> None:
        """Until cancelled."""
        await self._nc.subscribe(SUBJECT, cb=self._hear)
        while True:
            slept_at = time.monotonic()
            await asyncio.sleep(BEAT_SECONDS)
            if time.monotonic() - slept_at > 2 * BEAT_SECONDS:
                continue  # this process stood still: what came meanwhile has not been heard yet
            if self._is_due() and self._nc.is_connected and len(self._nc.servers) > 1:
                try:
                    await self._look()
                except Exception:
                    log.exception("whether this NATS server stores anything could not be seen")

    async def _look(self) -> None:
        try:
            await check_stores(self._nc)
        except StreamUnavailable as error:
            log.warning("this NATS server is left for another one", error=str(error))
            self._left += 1
            self._look_at = time.monotonic() + self._patience
            await self._nc.force_reconnect()
        else:
            self._is_good()

    def _is_due(self) -> bool:
        return self._look_at is not None and time.monotonic() > self._look_at

    @property
    def _patience(self) -> float:
        """With the next server."""
        turns: int = self._left // len(self._nc.servers)
        if turns == 0:
            return BEAT_SECONDS
        return SILENT_SECONDS * 2**turns if turns < TURNS else LONGEST_SECONDS

    async def _hear(self, _msg: Msg) -> None:
        self._is_good()

    def _is_good(self) -> None:
        self._look_at = time.monotonic() + SILENT_SECONDS
        self._left = 0
