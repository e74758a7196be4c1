"""The gate: how many are inside, who waits, and when the others are told to come back."""

import asyncio
import time

import pytest

from tertulia.kernel.errors import Refusal, spread
from tertulia.kernel.gate import LATEST_SECONDS, Gate, next_turn

pytestmark = pytest.mark.anyio


async def work(gate: Gate, over: asyncio.Event) -> float:
    async with gate.enter():
        entered = time.monotonic()
        await over.wait()
        return entered


async def measured(gate: Gate, seconds: float) -> None:
    """So long was everybody inside, lately."""
    for _ in range(30):
        async with gate.enter():
            await asyncio.sleep(seconds)


async def begun(gate: Gate, over: asyncio.Event, count: int) -> list[asyncio.Task[float]]:
    tasks = [asyncio.create_task(work(gate, over)) for _ in range(count)]
    await asyncio.sleep(0)
    return tasks


def seconds_told(refusal: Refusal) -> int:
    assert (refusal.status, refusal.code) == (503, "SERVER_NOT_READY")
    assert refusal.headers is not None
    return int(refusal.headers["Retry-After"])


async def test_so_many_are_inside_and_the_next_has_a_turn_when_one_leaves() -> None:
    gate, first, others = Gate("test", inside=2, patience=5), asyncio.Event(), asyncio.Event()
    [one] = await begun(gate, first, 1)
    _, third = await begun(gate, others, 2)
    left = time.monotonic()
    others.set()
    first.set()
    await one
    assert await third >= left


async def test_whoever_would_wait_too_long_is_told_at_once_when_to_come_back() -> None:
    gate, over = Gate("test", inside=1, patience=0.05), asyncio.Event()
    await measured(gate, 0.02)
    tasks = await begun(gate, over, 8)
    asked = time.monotonic()
    with pytest.raises(Refusal) as refused:
        await work(gate, over)
    assert time.monotonic() - asked < 0.04
    assert seconds_told(refused.value) >= 1
    over.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert await work(gate, over) > asked


async def test_whoever_waited_too_long_is_refused_and_leaves_no_place_behind() -> None:
    gate, over = Gate("test", inside=1, patience=0.05), asyncio.Event()
    tasks = await begun(gate, over, 3)
    with pytest.raises(Refusal) as refused:
        await tasks[1]
    assert seconds_told(refused.value) >= 1
    with pytest.raises(Refusal):
        await tasks[2]
    over.set()
    await tasks[0]
    for _ in range(3):
        await work(gate, over)


async def test_whoever_goes_away_while_waiting_takes_no_turn() -> None:
    gate, over = Gate("test", inside=1, patience=5), asyncio.Event()
    inside, gone, last = await begun(gate, over, 3)
    gone.cancel()
    over.set()
    await asyncio.wait_for(asyncio.gather(inside, last), 1)
    await asyncio.wait_for(work(gate, over), 1)


async def test_a_herd_is_told_to_come_back_as_fast_as_it_can_be_served() -> None:
    gate, over = Gate("test", inside=1, patience=0.0), asyncio.Event()
    await measured(gate, 0.02)
    inside = await begun(gate, over, 2)
    told = []
    for _ in range(1000):
        with pytest.raises(Refusal) as refused:
            await work(gate, over)
        told.append(seconds_told(refused.value))
    served = 1000 * gate.pace
    assert max(told) >= min(served, LATEST_SECONDS)
    assert all(sum(one == second for one in told) < 400 for second in set(told)), "not all at the same moment"
    over.set()
    await asyncio.gather(*inside, return_exceptions=True)


def test_turns_are_given_once_and_never_in_the_past() -> None:
    assert next_turn(promised=0.0, line_ends=100.0, pace=0.5) == 100.5
    assert next_turn(promised=103.0, line_ends=100.0, pace=0.5) == 103.5


def test_a_time_to_come_back_is_never_too_early_and_not_the_same_for_everybody() -> None:
    for seconds in (0.2, 1, 2, 10, 30):
        told = {spread(seconds) for _ in range(300)}
        assert min(told) >= max(1, seconds)
        assert len(told) > 1
        assert max(told) <= max(3, 2 * seconds)


async def test_when_there_is_room_again_nobody_is_sent_behind_those_who_were_told_to_come_back() -> None:
    gate, over = Gate("test", inside=1, patience=0.0), asyncio.Event()
    await measured(gate, 0.02)
    for is_first in (True, False):
        inside = await begun(gate, over, 2)
        told = []
        for _ in range(1 if not is_first else 2000):
            with pytest.raises(Refusal) as refused:
                await work(gate, over)
            told.append(seconds_told(refused.value))
        assert (max(told) > 10) == is_first
        over.set()
        await asyncio.gather(*inside, return_exceptions=True)
        over.clear()
