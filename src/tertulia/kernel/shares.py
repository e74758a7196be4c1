"""Who may have how many of the connections to the database.

- Writers wait for locks, readers for nobody. So writers never have all connections.
- Whatever a request turns out to cost, its caller has a third of a process's connections at most, and a third of those that
  write. Bots count for their owner; without credentials the network counts. What is asked for beyond that waits behind the
  caller's own, and holds nothing meanwhile that others wait for. What is done for many at once (kernel/coalesce.py, the lanes
  of sending), and by the worker, is nobody's.
- A few together do not have all, either. Whoever has kept connections for long lately is slow: all of those together leave a
  third to others, who so find one at once. Whoever is not has their first one at once, and what they have beside it comes out
  of a third that all share: a few who were never slow before do not take all at their first try.
- Time costs, too: how long a reader keeps a connection beyond what is ordinary is its caller's (kernel/admission.py). Writers
  wait for others' locks, so of theirs only statements count that the caller has put together (`Reader.fetch_shaped`), and the
  time for which others wait for them (`Transaction.holds_others_back`).
- A request that has a connection and takes another one does not wait for its caller's others: they might wait for it.
"""

import asyncio
import time

from tertulia.kernel.audit import request_now
from tertulia.kernel.call import Call
from tertulia.kernel.errors import Refusal
from tertulia.kernel.limits import TimeBudgets, too_often
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
SLOW_SECONDS, SLOW_SHARE = 2.0, 0.1
"""Whoever keeps connections for so much longer than that is slow, until a tenth of all time since has made up for it."""
TOGETHER = "all"
MOST_WAITING = 1000
"""Of one person, or of all who share. Far more than requests that may be under way (kernel/admission.py), so it is met only
without those bounds."""


class Share:
    """One connection of somebody's, while they have it."""

    __slots__ = ("call", "charged_before", "clock", "payer", "shared", "shared_writing", "writes")

    def __init__(self, *, writes: bool) -> None:
        self.writes = writes
        self.call: Call | None = None
        """Whose it is; None: nobody's."""
        self.payer = ""
        """In whose lane it is; empty: in none."""
        self.clock: Clock | None = None
        self.charged_before = 0.0
        """What the request had to pay before it had this one."""
        self.shared: Lanes | None = None
        self.shared_writing: Lanes | None = None
        """Where it has a place that others wait for."""


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


class Part:
    """Some of the connections, and who may have how many of them: one person, all who are slow, all beside their first."""

    __slots__ = ("_more", "_own", "_slow")

    def __init__(self, size: int, least: int) -> None:
        self._own = _lanes(max(least, size // PERSONS_PART))
        self._more = _lanes(max(1, size // PERSONS_PART))
        self._slow = _lanes(max(1, size - size // READERS_PART))

    def has_one(self, payer: str) -> bool:
        """Whether they have a connection: the next one may have to wait."""
        return self._own.count(payer) > 0

    async def enter(self, payer: str, *, is_slow: bool) -> Lanes | None:
        """Wait for a place; returns what `leave` needs."""
        await self._own.enter_as(payer)
        shared = self._slow if is_slow else self._more if self._own.count(payer) > 1 else None
        if shared is not None:
            try:
                await shared.enter_as(TOGETHER)
            except BaseException:
                self._own.leave(payer)
                raise
        return shared

    def leave(self, payer: str, shared: Lanes | None) -> None:
        """The place is free again."""
        if shared is not None:
            shared.leave(TOGETHER)
        self._own.leave(payer)


class Shares:
    """Of so many connections. `of_persons`: whether one person has a part of them only."""

    def __init__(self, size: int, limits: Limits, *, of_persons: bool) -> None:
        writers = size - size // READERS_PART
        self._writers = asyncio.Semaphore(writers)
        self._limits = limits
        self._of_persons = of_persons
        self._all = Part(size, LEAST)
        self._writing = Part(writers, LEAST_WRITING)
        self._spent = TimeBudgets(SLOW_SECONDS, SLOW_SHARE)

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
            is_slow = self._spent.wait(payer) > 0
            if is_slow or self._all.has_one(payer):
                async with asyncio.timeout(self._limits.statement):
                    await self._enter(share, payer, is_slow=is_slow)
            else:
                await self._enter(share, payer, is_slow=False)
        share.call, share.payer = call, payer
        share.charged_before = call.database_seconds
        call.connections += 1

    async def _enter(self, share: Share, payer: str, *, is_slow: bool) -> None:
        # In this order: those who wait to write do not keep the same person from reading.
        if share.writes:
            share.shared_writing = await self._writing.enter(payer, is_slow=is_slow)
        try:
            share.shared = await self._all.enter(payer, is_slow=is_slow)
        except BaseException:
            if share.writes:
                self._writing.leave(payer, share.shared_writing)
            raise

    def _give_back_to_person(self, share: Share) -> None:
        if share.call is None:
            return
        if share.clock is not None:
            share.clock.charge(share.call)
        share.call.connections -= 1
        if share.payer:
            if (seconds := share.call.database_seconds - share.charged_before) > 0:
                self._spent.spend(share.payer, seconds)
            self._all.leave(share.payer, share.shared)
            if share.writes:
                self._writing.leave(share.payer, share.shared_writing)


def _lanes(inside: int) -> Lanes:
    return Lanes(inside=inside, waiting=MOST_WAITING, refusal=_too_many)


def _too_many() -> Refusal:
    return too_often(1.0)
