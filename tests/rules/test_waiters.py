"""A message to thousands of listeners leaves the event loop room for others."""

import asyncio

from tertulia.events.queues.waiters import PORTION, Waker


def made(count: int) -> list[asyncio.Future[None]]:
    return [asyncio.get_running_loop().create_future() for _ in range(count)]


async def test_the_first_portion_is_woken_at_once() -> None:
    waker = Waker()
    waiters = made(PORTION + 1)
    for waiter in waiters:
        waker.wake(waiter)
    assert [waiter.done() for waiter in waiters] == [True] * PORTION + [False]


async def test_others_have_their_turn_between_portions_and_nobody_is_forgotten() -> None:
    waker = Waker()
    waiters = made(PORTION * 3 + 1)
    for waiter in waiters:
        waker.wake(waiter)
    seen = []
    while not all(waiter.done() for waiter in waiters):
        await asyncio.sleep(0)
        seen.append(sum(waiter.done() for waiter in waiters))
    assert len(set(seen)) >= 3
    assert seen[-1] == len(waiters)


async def test_a_wait_that_has_ended_meanwhile_is_passed_over() -> None:
    waker = Waker()
    waiters = made(PORTION + 2)
    for waiter in waiters:
        waker.wake(waiter)
    waiters[-1].cancel()
    for _ in range(4):
        await asyncio.sleep(0)
    assert waiters[-2].done()
    assert not waiters[-2].cancelled()
    assert waiters[-1].cancelled()


async def test_a_later_message_is_woken_at_once_again() -> None:
    waker = Waker()
    for waiter in made(PORTION * 2):
        waker.wake(waiter)
    for _ in range(5):
        await asyncio.sleep(0)
    [late] = made(1)
    waker.wake(late)
    assert late.done()
