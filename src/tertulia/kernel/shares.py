"""Who may have how many of the connections to the database.

- Writers wait for locks, readers for nobody. So writers never have all connections.
- Whatever a request turns out to cost, its caller has a third of a process's connections at most, and a third of those that
  write. Bots count for their owner; without credentials the network counts. What is asked for beyond that waits behind the
  caller's own, and holds nothing meanwhile that others wait for. What is done for many at once (kernel/coalesce.py, the lanes
  of sending), and by the worker, is nobody's.
- Time costs, too: how long a reader keeps a connection beyond what is ordinary is its caller's (kernel/admission.py). Writers
  wait for others' locks, so of theirs only statements count that the caller has put together (`Reader.fetch_shaped`).
- A request that has a connection and takes another one does not wait for its caller's others: they might wait for it.
"""

import asyncio
import time

from tertulia.kernel.audit import request_now
from tertulia.kernel.call import Call
from tertulia.kernel.errors import Refusal
from tertulia.kernel.limits import too_often
from tertulia.kernel.postgres import Limits
from tertulia.kernel.threads import Lanes
from tertulia.kernel.turns import Standstill

READERS_PART = 3
"""One in so many connections of a pool is for those who only read."""
PERSONS_PART = 3
"""One person has one in so many."""
LEAST_WRITING = 2
LEAST = LEAST_WRITING + 1
"""Of a small pool, too: whoever writes can read meanwhile."""
FREE_SECONDS = 0.2
"""So long a connection may be kept, or a statement take, at no cost."""
MOST_WAITING = 1000
"""Of one person. Far more than requests that may be under way (kernel/admission.py), so it is met only without those bounds."""


class Share:
    """One connection of somebody's, while they have it."""

    __slots__ = ("call", "clock", "payer", "writes")

    def __init__(self, *, writes: bool) -> None:
        self.writes = writes
        self.call: Call | None = None
        """Whose it is; None: nobody's."""
        self.payer = ""
        """In whose lane it is; empty: in none."""
        self.clock: Clock | None = None


class Clock:
    """How long something takes, less the time in which nothing could happen."""

    __slots__ = ("_began",)

    def __init__(self) -> None:
        self._began = time.monotonic() - Standstill.seconds

    def charge(self, call: Call) -> None:
        """It is over, and was done for this request."""
        seconds = time.monotonic() - Standstill.seconds - self._began
        if seconds > FREE_SECONDS:
            call.database_seconds += seconds - FREE_SECONDS


class Shares:
    """Of so many connections. `of_persons`: whether one person has a part of them only."""

    def __init__(self, size: int, limits: Limits, *, of_persons: bool) -> None:
        writers = size - size // READERS_PART
        self._writers = asyncio.Semaphore(writers)
        self._limits = limits
        self._of_persons = of_persons
        self._all = _lanes(max(LEAST, size // PERSONS_PART))
        self._writing = _lanes(max(LEAST_WRITING, writers // PERSONS_PART))

    async def take(self, *, writes: bool) -> Share:
        """Wait until there may be one connection more, for the caller of this request; `give_back` it."""
        share = Share(writes=writes)
        if self._of_persons and (request := request_now()):
            await self._take_of_person(share, request[0])
        if writes:
            try:
                await self._wait_for_writers()
            except BaseException:
                self._give_back_to_person(share)
                raise
        return share

    def begin(self, share: Share) -> None:
        """The connection is there."""
        if share.call is not None and not share.writes:
            share.clock = Clock()

    def give_back(self, share: Share) -> None:
        """The connection is free again."""
        if share.writes:
            self._writers.release()
        self._give_back_to_person(share)

    async def _wait_for_writers(self) -> None:
        if self._writers.locked():
            async with asyncio.timeout(self._limits.pool):
                await self._writers.acquire()
        else:
            await self._writers.acquire()

    async def _take_of_person(self, share: Share, call: Call) -> None:
        payer = "" if call.connections else call.payer
        if payer:
            if self._all.is_full(payer) or (share.writes and self._writing.is_full(payer)):
                async with asyncio.timeout(self._limits.statement):
                    await self._enter(payer, writes=share.writes)
            else:
                await self._enter(payer, writes=share.writes)
        share.call, share.payer = call, payer
        call.connections += 1

    async def _enter(self, payer: str, *, writes: bool) -> None:
        # In this order: those who wait to write do not keep the same person from reading.
        if writes:
            await self._writing.enter_as(payer)
        try:
            await self._all.enter_as(payer)
        except BaseException:
            if writes:
                self._writing.leave(payer)
            raise

    def _give_back_to_person(self, share: Share) -> None:
        if share.call is None:
            return
        if share.clock is not None:
            share.clock.charge(share.call)
        share.call.connections -= 1
        if share.payer:
            self._all.leave(share.payer)
            if share.writes:
                self._writing.leave(share.payer)


def _lanes(inside: int) -> Lanes:
    return Lanes(inside=inside, waiting=MOST_WAITING, refusal=_too_many)


def _too_many() -> Refusal:
    return too_often(1.0)
