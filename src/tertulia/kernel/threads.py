"""Threads for work that takes long, with a bound on what waits for them.

`asyncio.to_thread` has one pool for everything, and a queue without end: whoever fills it stops all others. Work that
somebody can ask for again and again gets threads of its own here, so that only its own kind waits for it, and a refusal
when too much waits already: an answer now is better than one that nobody waits for any more.

Each network that asks has a small share of that room, so that nobody takes it all: what one sends at once waits in a lane of
its own, and whoever is elsewhere does not notice. What of several networks waits for a thread is done in turns: nobody's second
before everybody's first. The worker and the commands ask for nobody, and have no lane.
"""

import asyncio
import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from functools import partial
from heapq import heappop, heappush
from itertools import count
from typing import Any, ParamSpec, TypeVar

from tertulia.kernel.errors import Refusal, server_not_ready
from tertulia.kernel.limits import network_of

P = ParamSpec("P")
T = TypeVar("T")


SHARE = 8
"""One network has one part in so many."""
asking: ContextVar[str | None] = ContextVar("asking", default=None)
"""The address whose request this is; set for each request."""


class Lanes:
    """Of each network, or whoever else is named, so many are inside at once; so many more wait for their turn, and what comes
    then is refused."""

    def __init__(self, *, inside: int, waiting: int, refusal: Callable[[], Refusal] | None = None) -> None:
        self._inside = inside
        self._waiting = waiting
        self._refusal = refusal or too_busy
        self._lanes: dict[str, _Lane] = {}

    async def enter(self) -> str:
        """Wait for a turn; a Refusal if too many of the network wait already. Call `leave` with what it returns."""
        address = asking.get()
        return "" if address is None else await self.enter_as(network_of(address) or "unknown")

    async def enter_as(self, name: str) -> str:
        """The same, for somebody else than a network."""
        lane = self._lanes.get(name)
        if lane is None:
            lane = self._lanes[name] = _Lane()
        if lane.inside < self._inside:
            lane.inside += 1
            return name
        if len(lane.waiting) >= self._waiting:
            raise self._refusal()
        turn = asyncio.get_running_loop().create_future()
        lane.waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # the turn came just then
                self.leave(name)
            elif turn in lane.waiting:
                lane.waiting.remove(turn)
            raise
        return name

    def is_full(self, name: str) -> bool:
        """Whether somebody would wait for their turn now."""
        lane = self._lanes.get(name)
        return lane is not None and lane.inside >= self._inside

    def count(self, name: str) -> int:
        """How many of somebody's are inside."""
        lane = self._lanes.get(name)
        return 0 if lane is None else lane.inside

    def leave(self, name: str) -> None:
        """Whoever waits the longest takes the place; in the thread of the event loop."""
        if not name:
            return
        lane = self._lanes[name]
        while lane.waiting:
            turn = lane.waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        lane.inside -= 1
        if not lane.inside:
            del self._lanes[name]


class _Lane:
    def __init__(self) -> None:
        self.inside = 0
        self.waiting: deque[asyncio.Future[None]] = deque()


class Threads:
    """So many threads, and room for so many calls that wait for one."""

    def __init__(self, name: str, *, running: int, waiting: int) -> None:
        self._pool = ThreadPoolExecutor(running, thread_name_prefix=name)
        self._turns = _Turns()
        self._room = threading.BoundedSemaphore(running + waiting)
        self._lanes = Lanes(inside=max(1, (running + waiting) // SHARE), waiting=max(1, waiting // 2))

    async def run(self, work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """Do it in a thread; a Refusal if too much waits already."""
        lane = await self._lanes.enter()
        loop = asyncio.get_running_loop()
        if not self._room.acquire(blocking=False):
            self._lanes.leave(lane)
            raise too_busy()

        def is_over(_: object) -> None:
            self._room.release()
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._lanes.leave, lane)

        done: Future[T] = Future()
        # When the work is over, and not when its caller goes away: a thread cannot be called back.
        done.add_done_callback(is_over)
        self._turns.add(lane, _Job(done, partial(work, *arguments, **named)))
        try:
            self._pool.submit(self._do_next)
        except RuntimeError:  # the process ends
            done.cancel()
            raise
        return await asyncio.wrap_future(done)

    def _do_next(self) -> None:
        """In a thread that is free: not what it was told to do first, but whose turn it is now."""
        self._turns.take().do()


class _Job:
    def __init__(self, done: Future[Any], work: Callable[[], Any]) -> None:
        self._done = done
        self._work = work

    def do(self) -> None:
        if not self._done.set_running_or_notify_cancel():
            return  # nobody waits for it any more
        try:
            self._done.set_result(self._work())
        except BaseException as error:
            self._done.set_exception(error)
            del self  # which the error knows by this frame, and this knows the error: neither would go away soon


class _Turns:
    """What waits for a thread, by rounds: a round has one job of everybody, and what somebody adds goes into the next one in
    which they have none yet."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[tuple[int, int, str, _Job]] = []
        self._present = 0
        self._last: dict[str, int] = {}
        """The last round in which somebody has a job, of those who have any."""
        self._serial = count()

    def add(self, name: str, job: _Job) -> None:
        with self._lock:
            turn = self._last[name] = max(self._present, self._last.get(name, 0)) + 1
            heappush(self._waiting, (turn, next(self._serial), name, job))

    def take(self) -> _Job:
        with self._lock:
            self._present, _, name, job = heappop(self._waiting)
            if self._last[name] == self._present:
                del self._last[name]
            return job


def too_busy() -> Refusal:
    """What is refused was not begun, whoever asked for the rest: so it is 503, and not a rate limit of the caller's."""
    return server_not_ready("The server has too much to do right now. Please try again in a moment.", retry_after=2)


def processors() -> int:
    """How many threads can compute at the same time."""
    return os.process_cpu_count() if hasattr(os, "process_cpu_count") else os.cpu_count() or 1
