"""Ending tasks, surely."""

import asyncio
from collections.abc import Iterable
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
