"""Tasks: so many side by side, and ended surely."""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Iterable
from typing import Any


async def end_tasks(tasks: Iterable[asyncio.Future[Any]]) -> None:
    """Cancel tasks and wait until they have ended, whatever they end with.

    Asked again and again: before Python 3.12, `asyncio.wait_for` swallows a cancellation that comes in the same moment as
    what it waits for, and a loop around it would then go on for ever.
    """
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=0.2)


class BoundedTasks:
    """Tasks that run side by side: so many at most, and so many for each of those they are for.

    `most_of_one` has a limit for each kind of those, in the order in which `start` is told whom a task is for.
    """

    def __init__(self, most: int, *most_of_one: int) -> None:
        self._most = most
        self._most_of_one = most_of_one
        self._running: dict[asyncio.Task[None], tuple[int, ...]] = {}

    @property
    def room(self) -> int:
        """How many more may be started, for whomever that is not busy: so few that none of them gets too many.

        Somebody who is near their limit makes it small for all: then more is looked for more often, a statement each time.
        """
        left = [
            most - count
            for counts, most in zip(self._counts(), self._most_of_one, strict=True)
            for count in (0, *counts.values())
            if count < most
        ]
        return max(0, min([self._most - len(self._running), *left]))

    def busy(self) -> list[list[int]]:
        """Of each kind those who have as many under way as they may."""
        return [
            [id for id, count in counts.items() if count >= most]
            for counts, most in zip(self._counts(), self._most_of_one, strict=True)
        ]

    def _counts(self) -> list[Counter[int]]:
        return [Counter(whose[kind] for whose in self._running.values()) for kind in range(len(self._most_of_one))]

    def start(self, work: Coroutine[Any, Any, None], *whose: int) -> None:
        """Begin a task; it makes room by itself when it has ended."""
        task = asyncio.create_task(work)
        self._running[task] = whose
        task.add_done_callback(self._running.pop)
