"""Notices that a client has gone away, for thousands of waiting requests at once.

A task for each of them would do the same: awaiting `receive` until it says so. But a task costs memory while it waits and
two more turns of the event loop when it is cancelled, and nearly all of them are cancelled, because most polls are
answered. So the one coroutine is moved on by hand, the way a task would: it yields the future it waits for, and goes on
when that is done.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any


class Departure:
    """Calls `tell` once `waiting` has ended, unless it is closed first."""

    __slots__ = ("_tell", "_waiting")

    def __init__(self, waiting: Coroutine[Any, None, None], tell: Callable[[], None]) -> None:
        self._waiting: Coroutine[Any, None, None] | None = waiting
        self._tell = tell
        self._go_on()

    @property
    def is_noticed(self) -> bool:
        """Whether it was told (or closed)."""
        return self._waiting is None

    def close(self) -> None:
        """Stop waiting."""
        if self._waiting is not None:
            self._waiting.close()
            self._waiting = None

    def _go_on(self, _done: object = None) -> None:
        if self._waiting is None:
            return
        try:
            future = self._waiting.send(None)
        except (StopIteration, OSError):
            self._waiting = None
            self._tell()
            return
        if future is None:  # it only let others have a turn
            asyncio.get_running_loop().call_soon(self._go_on)
        else:
            future._asyncio_future_blocking = False
            future.add_done_callback(self._go_on)
