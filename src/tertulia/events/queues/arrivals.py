"""Arrivals: transactions that somebody waits for to arrive in a realm's log.

However many wait for one transaction, they share one future; and one task looks for all of them what may have been missed.
Concurrency: everything happens on the event loop. Each wait ends: with the arrival, after a while, or when the feed ends.
"""

import asyncio
from collections.abc import Awaitable, Callable

from tertulia.events.log.jetstream import StreamUnavailable

REACH_SECONDS = 20.0
LOOK_SECONDS = 0.5
"""What does not come by itself in this time is looked for."""


class FeedEnded(StreamUnavailable):
    """The feed is closed: its epoch has ended, or nobody listened to it any more."""


class Arrivals:
    """The transactions that are waited for. `look` finds out how far the log really is."""

    def __init__(
        self,
        look: Callable[[], Awaitable[None]],
        *,
        patience: float = REACH_SECONDS,
        look_after: float = LOOK_SECONDS,
    ) -> None:
        self._look = look
        self._patience = patience
        self._look_after = look_after
        self._waiting: dict[int, asyncio.Future[None]] = {}
        self._looking: asyncio.Task[None] | None = None
        self._is_closed = False

    async def wait(self, xid: int) -> None:
        """Until an event of this transaction, which was not there before, has arrived."""
        if self._is_closed:
            raise FeedEnded("the feed has ended")
        waiter = self._waiting.get(xid)
        if waiter is None:
            loop = asyncio.get_running_loop()
            waiter = self._waiting[xid] = loop.create_future()
            timer = loop.call_later(self._patience, self._give_up, xid)
            waiter.add_done_callback(lambda _: timer.cancel())
        if self._looking is None:
            self._looking = asyncio.create_task(self._look_out())
        await asyncio.shield(waiter)  # one of those who wait may go away

    def arrived(self, xid: int) -> None:
        """An event of this transaction is there."""
        if (waiter := self._waiting.pop(xid, None)) is not None:
            waiter.set_result(None)

    def close(self) -> None:
        """Nothing will arrive any more."""
        self._is_closed = True
        for waiter in self._waiting.values():
            waiter.set_exception(FeedEnded("the feed has ended"))
        self._waiting = {}
        if self._looking is not None:
            self._looking.cancel()

    def _give_up(self, xid: int) -> None:
        if (waiter := self._waiting.pop(xid, None)) is not None:
            waiter.set_exception(StreamUnavailable("the log is behind the database"))

    async def _look_out(self) -> None:
        try:
            while self._waiting:
                await asyncio.sleep(self._look_after)
                if self._waiting:
                    await self._look()
        finally:
            self._looking = None
