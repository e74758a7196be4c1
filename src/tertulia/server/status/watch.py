"""Looking while somebody reads, and remembering, so that the page can say since when something is so.

Nothing is asked where nobody reads: each look opens a connection to each engine, and a site has many processes. Of the time
before, the database knows enough (`Slot.late_seconds`).
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from typing import Final

import msgspec

from tertulia.kernel.chores import Chore
from tertulia.kernel.settings import Settings
from tertulia.server.status.facts import find_facts
from tertulia.server.status.page import page_of
from tertulia.server.status.rules import Part, Slot, State, parts_of, worst

LOOK_SECONDS: Final = 15.0
"""For so long a look is good; the page loads itself again after as long."""
UNSEEN_SECONDS: Final = 300.0
"""After so long without a reader nobody knows how it was in between."""
REMEMBERED: Final = 1000
"""Positions of the log: some four hours of a page that stays open. Whoever is further behind is at least so late."""


class Said(msgspec.Struct, frozen=True):
    """A part, and since when it is in that state, as far as readers of this process have seen."""

    part: Part
    since: datetime


class Report(msgspec.Struct, frozen=True):
    """All of it, as JSON has it."""

    state: State
    looked_at: datetime
    parts: Sequence[Said]


class Lateness:
    """How late events are: for how long the log has been known to be further than they are stored now."""

    def __init__(self) -> None:
        self._positions: deque[tuple[float, int]] = deque(maxlen=REMEMBERED)

    def of(self, slot: Slot | None, now: float) -> float:
        """In seconds, at least; 0 if nothing waits, or nobody knows."""
        if slot is None:
            return 0.0
        self._positions.append((now, slot.flushed))
        while self._positions and self._positions[0][1] <= slot.stored:
            self._positions.popleft()
        return max(now - self._positions[0][0], slot.late_seconds) if self._positions else 0.0


@asynccontextmanager
async def watched(
    settings: Settings, chores: Sequence[Chore], monitor: Callable[..., AbstractAsyncContextManager[None]]
) -> AsyncIterator[None]:
    """A process's monitor, with the page."""
    watch = StatusWatch(settings, chores)
    async with monitor(pages={"/status": watch.page, "/status.json": watch.json}):
        yield


class StatusWatch:
    """In one process. `pages` is for its monitor."""

    def __init__(self, settings: Settings, chores: Sequence[Chore]) -> None:
        self._settings = settings
        self._chores = chores
        self._since: dict[str, tuple[State, datetime]] = {}
        self._lateness = Lateness()
        self._report: Report | None = None
        self._good_until = 0.0
        self._looking = asyncio.Lock()

    async def page(self) -> tuple[str, bytes]:
        """For people."""
        report = await self._latest()
        return "text/html; charset=utf-8", page_of(report.state, report.looked_at, report.parts).encode()

    async def json(self) -> tuple[str, bytes]:
        """For programs."""
        return "application/json", msgspec.json.encode(await self._latest())

    async def _latest(self) -> Report:
        async with self._looking:  # who comes meanwhile reads the same
            if self._report is None or time.monotonic() >= self._good_until:
                self._report = await self._look()
                self._good_until = time.monotonic() + LOOK_SECONDS
            return self._report

    async def _look(self) -> Report:
        facts, now = await find_facts(self._settings, self._chores), datetime.now(UTC)
        parts = parts_of(facts, self._lateness.of(facts.slot, time.monotonic()))
        if time.monotonic() >= self._good_until + UNSEEN_SECONDS:
            self._since = {}
        self._since = {part.name: self._begun(part, now) for part in parts}
        said = [Said(part, self._since[part.name][1]) for part in parts]
        return Report(worst(parts), now, said)

    def _begun(self, part: Part, now: datetime) -> tuple[State, datetime]:
        before = self._since.get(part.name)
        return before if before is not None and before[0] is part.state else (part.state, now)
