"""Looking again and again, so that the page can say since when something is so."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from typing import Final

import msgspec
import structlog

from tertulia.kernel.chores import Chore
from tertulia.kernel.settings import Settings
from tertulia.kernel.tasks import end_tasks
from tertulia.server.status.facts import find_facts
from tertulia.server.status.page import page_of
from tertulia.server.status.rules import Part, Slot, State, parts_of, worst

log = structlog.get_logger()

LOOK_SECONDS: Final = 15.0
REMEMBERED: Final = 1000
"""Positions of the log: some four hours. Whoever is further behind is at least so late."""


class Said(msgspec.Struct, frozen=True):
    """A part, and since when it is in that state, as far as this process has seen."""

    part: Part
    since: datetime


class Report(msgspec.Struct, frozen=True):
    """All of it, as JSON has it."""

    state: State
    looked_at: datetime
    parts: Sequence[Said]


class Lateness:
    """How late events are: when the log was where the stored events are now."""

    def __init__(self) -> None:
        self._positions: deque[tuple[float, int]] = deque(maxlen=REMEMBERED)

    def of(self, slot: Slot | None, now: float) -> float:
        """In seconds; 0 if nothing waits, or nobody knows."""
        if slot is None:
            return 0.0
        self._positions.append((now, slot.flushed))
        while len(self._positions) > 1 and self._positions[1][1] <= slot.stored:
            self._positions.popleft()
        when, flushed = self._positions[0]
        if slot.stored >= slot.flushed:
            return 0.0
        return now - when if flushed > slot.stored or len(self._positions) > 1 else 0.0


@asynccontextmanager
async def watched(
    settings: Settings, chores: Sequence[Chore], monitor: Callable[..., AbstractAsyncContextManager[None]]
) -> AsyncIterator[None]:
    """A process's monitor, with the page. Where nobody could read it, nothing is asked."""
    watch = StatusWatch(settings, chores)
    async with monitor(pages={"/status": watch.page, "/status.json": watch.json}):
        looking = asyncio.create_task(watch.keep_looking()) if settings.metrics_port else None
        try:
            yield
        finally:
            await end_tasks([] if looking is None else [looking])


class StatusWatch:
    """In one process. `pages` is for its monitor."""

    def __init__(self, settings: Settings, chores: Sequence[Chore]) -> None:
        self._settings = settings
        self._chores = chores
        self._since: dict[str, tuple[State, datetime]] = {}
        self._lateness = Lateness()
        self._report: Report | None = None
        self._looking = asyncio.Lock()

    async def keep_looking(self) -> None:
        """Until cancelled."""
        while True:
            try:
                await self.look()
            except Exception:
                log.exception("the status is not known")
            await asyncio.sleep(LOOK_SECONDS)

    async def look(self) -> Report:
        """Ask everybody now."""
        async with self._looking:
            facts, now = await find_facts(self._settings, self._chores), datetime.now(UTC)
            parts = parts_of(facts, self._lateness.of(facts.slot, time.monotonic()))
            self._since = {part.name: self._begun(part, now) for part in parts}
            said = [Said(part, self._since[part.name][1]) for part in parts]
            self._report = Report(worst(parts), now, said)
            return self._report

    async def page(self) -> tuple[str, bytes]:
        """For people."""
        report = await self._latest()
        return "text/html; charset=utf-8", page_of(report.state, report.looked_at, report.parts).encode()

    async def json(self) -> tuple[str, bytes]:
        """For programs."""
        return "application/json", msgspec.json.encode(await self._latest())

    async def _latest(self) -> Report:
        return self._report or await self.look()

    def _begun(self, part: Part, now: datetime) -> tuple[State, datetime]:
        before = self._since.get(part.name)
        return before if before is not None and before[0] is part.state else (part.state, now)
