"""Tasks side by side, and their end."""

import asyncio
from contextlib import suppress

from tertulia.kernel.tasks import BoundedTasks, end_tasks


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


async def test_tasks_have_room_for_so_many_and_tell_who_has_enough_of_them() -> None:
    ended = asyncio.Event()

    async def task() -> None:
        await ended.wait()

    bounded = BoundedTasks(4, 2, 3)
    assert (bounded.room, bounded.busy()) == (2, [[], []])  # they may all be for one
    for whose in ((1, 7), (1, 7), (2, 7)):
        bounded.start(task(), *whose)
    assert (bounded.room, bounded.busy()) == (1, [[1], [7]])
    ended.set()
    async with asyncio.timeout(5):
        while bounded.room < 2:
            await asyncio.sleep(0)
    assert bounded.busy() == [[], []]


def test_tasks_that_are_for_nobody_have_room_for_so_many() -> None:
    bounded = BoundedTasks(4)
    assert (bounded.room, bounded.busy()) == (4, [])
