"""A gate: so many are inside at once, and the others wait for their turn, as long as that makes sense.

After the death of a process thousands of clients want the same dear thing at the same moment. If all of it is begun at once,
nothing is done in time, and the clients ask again. So few are let in, a short line waits, and whoever would wait for longer than
`patience` is told at once when to come back: each at another time, as fast as the ones before are served.

How long somebody would wait is measured: by how long the last ones were inside. Nothing here is a number of requests that are
too many.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from prometheus_client import Counter, Gauge

from tertulia.kernel.errors import Refusal, server_not_ready

REFUSED = Counter("tertulia_gate_refused", "Requests told to come back later, by what they wanted", ["gate"])
WAITING = Gauge("tertulia_gate_waiting", "Requests that wait for their turn, by what they want", ["gate"])

LATEST_SECONDS = 15.0
"""Nobody is told to come back later than this, but for a random part: they may never come, and others are served."""
WEIGHT = 0.1
"""How much the newest measurement counts."""


class Gate:
    """In one process, on its event loop."""

    def __init__(self, name: str, *, inside: int, patience: float) -> None:
        self._free = inside
        self._inside = inside
        self._patience = patience
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._seconds = 0.0
        """How long somebody is inside, lately."""
        self._promised = 0.0
        """Up to this moment turns are given away, to those who wait and those who were told to come back."""
        self._refused = REFUSED.labels(name)
        WAITING.labels(name).set_function(lambda: len(self._waiting))

    @asynccontextmanager
    async def enter(self) -> AsyncIterator[None]:
        """Wait for a turn; a Refusal with the time to come back if that would take too long."""
        await self._wait()
        began = time.monotonic()
        try:
            yield
        finally:
            self._seconds += WEIGHT * (time.monotonic() - began - self._seconds)
            self._leave()

    @property
    def pace(self) -> float:
        """The seconds from one turn to the next."""
        return self._seconds / self._inside

    async def _wait(self) -> None:
        if self._free:
            self._free -= 1
            return
        if len(self._waiting) * self.pace > self._patience:
            raise self._refuse()
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            async with asyncio.timeout(self._patience):
                await turn
        except TimeoutError:
            self._give_up(turn)
            raise self._refuse() from None
        except asyncio.CancelledError:
            self._give_up(turn)
            raise

    def _give_up(self, turn: asyncio.Future[None]) -> None:
        if turn in self._waiting:
            self._waiting.remove(turn)
        elif not turn.cancelled():  # the turn came just then
            self._leave()

    def _leave(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
        self._promised = (
            0.0  # whoever comes now is served: those who were told to come back need not wait for each other
        )

    def _refuse(self) -> Refusal:
        self._refused.inc()
        now = time.monotonic()
        self._promised = next_turn(self._promised, now + len(self._waiting) * self.pace, self.pace)
        return server_not_ready(
            "The server has too much to do right now. Please try again in a moment.",
            retry_after=min(LATEST_SECONDS, self._promised - now),
        )


def next_turn(promised: float, line_ends: float, pace: float) -> float:
    """The next turn that nobody has: after those that are promised, and after the line (pure)."""
    return max(promised, line_ends) + pace
