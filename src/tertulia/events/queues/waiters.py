"""Wakes waiting polls in portions.

A message to 10,000 listeners is a quarter of a second of work. Between two portions the event loop turns once, so that whoever
else asks for something meanwhile, such as the sender waiting for the answer, does not wait for all of it.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable

PORTION = 500
PORTION_SECONDS = 0.05
"""It ends earlier than that: answers may be large."""


class Waiter:
    """A poll that waits. It may be woken any number of times: it goes on once, and not from within whoever wakes it."""

    __slots__ = ("_go_on", "_is_due", "_waker")

    def __init__(self, waker: "Waker", go_on: Callable[[], None]) -> None:
        self._waker = waker
        self._go_on: Callable[[], None] | None = go_on
        self._is_due = False

    def wake(self) -> None:
        """There is something for it, or nothing will come any more."""
        if not self._is_due:
            self._is_due = True
            self._waker.add(self)

    def leave(self) -> None:
        """It waits no more, and will not go on."""
        self._go_on = None

    def go_on(self) -> None:
        """Its turn has come."""
        go_on, self._go_on = self._go_on, None
        if go_on is not None:
            go_on()


class Waker:
    """One per process. What becomes due in one turn of the event loop goes on in the next, up to a portion."""

    def __init__(self) -> None:
        self._due: deque[Waiter] = deque()
        self._is_turning = False

    def add(self, waiter: Waiter) -> None:
        """Let it go on, in one of the next turns."""
        self._due.append(waiter)
        if not self._is_turning:
            self._is_turning = True
            self._turn_soon()

    def _turn(self) -> None:
        due, end = self._due, time.perf_counter() + PORTION_SECONDS
        try:
            for _ in range(min(PORTION, len(due))):
                due.popleft().go_on()
                if time.perf_counter() > end:
                    break
        finally:
            self._is_turning = bool(due)
            if due:
                self._turn_soon()

    def _turn_soon(self) -> None:
        asyncio.get_running_loop().call_soon(self._turn)
