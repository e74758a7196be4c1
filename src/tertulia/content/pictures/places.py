"""Who decodes a picture now: one at a time, and while one takes long, those of others beside it.

Decoding takes a core and much memory, and a small file may keep it for a quarter of a minute. Of each person one picture waits:
whoever sends many waits for their own. Those of people whose pictures took long lately are not decoded beside others: they would
have that place as well.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tertulia.kernel.limits import TimeBudgets
from tertulia.kernel.threads import Lanes, too_busy

LONG_SECONDS = 1.0
"""What takes longer does not keep others waiting."""
SLOW_SECONDS, SLOW_SHARE = 5.0, 0.05
"""Whose pictures took so much longer is slow, until so much of the time that has passed makes up for it."""


class DecodingPlaces:
    """In one process: one place for all, and one beside it for those who are not slow."""

    def __init__(self, waiting: int) -> None:
        """`waiting`: so many pictures wait at most, of one person and of all together."""
        self._lanes = Lanes(inside=1, waiting=waiting)
        self._room = asyncio.Semaphore(1 + waiting)
        self._first = asyncio.Semaphore(1)
        self._beside = asyncio.Semaphore(1)
        self._times = TimeBudgets(SLOW_SECONDS, SLOW_SHARE)

    @asynccontextmanager
    async def enter(self, person: str) -> AsyncIterator[None]:
        """Wait for a place; refuses when too many wait."""
        lane = await self._lanes.enter_as(person)
        try:
            if self._room.locked():
                raise too_busy()
            async with self._room:
                place = await self._wait(person)
                began = time.monotonic()
                try:
                    yield
                finally:
                    place.release()
                    self._times.spend(person, max(0.0, time.monotonic() - began - LONG_SECONDS))
        finally:
            self._lanes.leave(lane)

    async def _wait(self, person: str) -> asyncio.Semaphore:
        try:
            async with asyncio.timeout(None if self._times.wait(person) else LONG_SECONDS):
                await self._first.acquire()
        except TimeoutError:
            await self._beside.acquire()
            return self._beside
        return self._first
