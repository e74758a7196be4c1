"""Ending tasks."""

import asyncio
from contextlib import suppress

from tertulia.kernel.tasks import end_tasks


async def test_a_task_that_swallows_a_cancellation_ends_nevertheless() -> None:
    swallowed = 0

    async def stubborn() -> None:
        nonlocal swallowed
        while True:
            if swallowed < 2:
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(60)
                swallowed += 1
            else:
                await asyncio.sleep(60)

    async def failing() -> None:
        raise ValueError

    tasks = [asyncio.create_task(stubborn()), asyncio.create_task(failing())]
    await asyncio.sleep(0)
    async with asyncio.timeout(5):
        await end_tasks(tasks)
    assert swallowed == 2
    assert tasks[0].cancelled()
    assert isinstance(tasks[1].exception(), ValueError)
