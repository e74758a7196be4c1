"""A message to thousands of listeners leaves the event loop room for others."""

import asyncio
import time
from functools import partial

from tertulia.events.queues.waiters import PORTION, PORTION_SECONDS, Waiter, Waker


class Polls:
    """Polls that wait, and which of them went on, in that order."""

    def __init__(self, count: int) -> None:
        self.went_on: list[int] = []
        self.waker = Waker()
        self.waiters = [Waiter(self.waker, partial(self.went_on.append, number)) for number in range(count)]

    def wake(self) -> None:
        for waiter in self.waiters:
            waiter.wake()


async def test_nobody_goes_on_from_within_whoever_wakes_them() -> None:
    polls = Polls(2)
    polls.wake()
    assert polls.went_on == []
    await asyncio.sleep(0)
    assert polls.went_on == [0, 1]


async def test_others_have_their_turn_between_portions_and_nobody_is_forgotten() -> None:
    polls = Polls(PORTION * 3 + 1)
    polls.wake()
    seen = []
    for _ in range(5):
        await asyncio.sleep(0)
        seen.append(len(polls.went_on))
    assert seen == [PORTION, PORTION * 2, PORTION * 3, PORTION * 3 + 1, PORTION * 3 + 1]
    assert polls.went_on == list(range(PORTION * 3 + 1))


async def test_who_is_woken_again_and_again_goes_on_once() -> None:
    polls = Polls(1)
    polls.wake()
    polls.wake()
    await asyncio.sleep(0)
    polls.wake()
    await asyncio.sleep(0)
    assert polls.went_on == [0]


async def test_a_wait_that_has_ended_meanwhile_is_passed_over() -> None:
    polls = Polls(3)
    polls.wake()
    polls.waiters[1].leave()
    await asyncio.sleep(0)
    assert polls.went_on == [0, 2]


async def test_a_later_message_is_as_quick_as_the_first() -> None:
    polls = Polls(PORTION + 1)
    for waiter in polls.waiters[:-1]:
        waiter.wake()
    for _ in range(3):
        await asyncio.sleep(0)
    polls.waiters[-1].wake()
    await asyncio.sleep(0)
    assert polls.went_on[-1] == PORTION


async def test_what_takes_long_is_a_portion_by_itself() -> None:
    polls = Polls(3)
    slow = Waiter(polls.waker, partial(time.sleep, PORTION_SECONDS * 1.2))
    slow.wake()
    polls.wake()
    await asyncio.sleep(0)
    assert polls.went_on == []
    await asyncio.sleep(0)
    assert polls.went_on == [0, 1, 2]


async def test_one_that_fails_keeps_nobody_else_waiting() -> None:
    def fail() -> None:
        raise LookupError

    polls = Polls(2)
    failing = Waiter(polls.waker, fail)
    told: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: told.append(context["exception"]))
    failing.wake()
    polls.wake()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert polls.went_on == [0, 1]
    assert len(told) == 1
