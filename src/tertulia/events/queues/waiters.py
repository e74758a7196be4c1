"""Wakes waiting polls in portions.

A message to 10,000 listeners is half a second of work. Between two portions the event loop turns once, so that whoever
else asks for something meanwhile, such as the sender waiting for the answer, does not wait for all of it.
"""

import asyncio
from collections import deque

PORTION = 500

Waiter = asyncio.Future[None]
"""What a waiting poll waits for."""


class Waker:
    """One per process. The first portion of each turn of the event loop is woken at once."""

    def __init__(self) -> None:
        self._due: deque[Waiter] = deque()
        self._left = PORTION
        self._is_turning = False

    def wake(self, waiter: Waiter) -> None:
        """Wake a poll, in this turn or in one of the next."""
        if self._left:
            self._left -= 1
            release(waiter)
        else:
            self._due.append(waiter)
        if not self._is_turning:
            self._is_turning = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        self._left = PORTION
        while self._due and self._left:
            self._left -= 1
            release(self._due.popleft())
        if self._left < PORTION:
            asyncio.get_running_loop().call_soon(self._turn)
        else:
            self._is_turning = False


def release(waiter: Waiter) -> None:
    """End a wait, unless it has ended."""
    if not waiter.done():
        waiter.set_result(None)
