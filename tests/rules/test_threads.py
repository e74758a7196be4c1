"""Threads of one kind of work: how many run, how many wait, and that room comes back."""

import asyncio
import threading
import time
from typing import Any

import pytest

from tertulia.kernel.errors import Refusal
from tertulia.kernel.threads import Lanes, Threads, asking


@pytest.mark.anyio
async def test_what_does_not_fit_is_refused_at_once_and_room_comes_back() -> None:
    threads, over = Threads("test", running=1, waiting=2), threading.Event()
    tasks = [asyncio.create_task(threads.run(over.wait, 30)) for _ in range(3)]
    await asyncio.sleep(0)
    with pytest.raises(Refusal) as refused:
        await threads.run(over.wait, 30)
    assert (refused.value.status, refused.value.code) == (503, "SERVER_NOT_READY")
    assert refused.value.headers is not None
    assert 2 <= int(refused.value.headers["Retry-After"]) <= 5
    over.set()
    assert await asyncio.gather(*tasks) == [True, True, True]
    assert await threads.run(str, 7) == "7"


@pytest.mark.anyio
async def test_who_goes_away_while_waiting_makes_room() -> None:
    threads, over, begun = Threads("test", running=1, waiting=1), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        over.wait(30)

    running = asyncio.create_task(threads.run(work))
    waiting = asyncio.create_task(threads.run(work))
    await asyncio.to_thread(begun.wait, 30)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    last = asyncio.create_task(threads.run(str, 7))
    await asyncio.sleep(0)
    over.set()
    await running
    assert await last == "7"


@pytest.mark.anyio
async def test_who_goes_away_while_it_runs_frees_no_thread() -> None:
    threads, over, begun = Threads("test", running=1, waiting=0), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        over.wait(30)

    running = asyncio.create_task(threads.run(work))
    await asyncio.to_thread(begun.wait, 30)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    with pytest.raises(Refusal):
        await threads.run(work)
    over.set()


@pytest.mark.anyio
async def test_what_the_work_raises_is_raised() -> None:
    threads = Threads("test", running=1, waiting=0)
    for _ in range(3):
        with pytest.raises(ValueError, match="invalid literal"):
            await threads.run(int, "x")


@pytest.mark.anyio
async def test_one_network_has_a_share_of_the_room_and_the_rest_of_it_is_for_others() -> None:
    threads, over = Threads("test", running=1, waiting=15), threading.Event()  # a share is 2, and 7 more wait for it

    def ask(address: str) -> "asyncio.Task[bool]":
        asking.set(address)
        return asyncio.create_task(threads.run(over.wait, 30))

    of_one = [ask(address) for address in ["2001:db8::1", "2001:db8::2"] * 5]
    await asyncio.sleep(0)
    assert [task.done() for task in of_one] == [False] * 9 + [True]  # the tenth is refused at once
    of_others = [ask(f"192.0.2.{number}") for number in range(14)]
    await asyncio.sleep(0)
    assert not any(task.done() for task in of_others)
    over.set()
    with pytest.raises(Refusal):
        await of_one.pop()
    assert await asyncio.gather(*of_one, *of_others) == [True] * 23


@pytest.mark.anyio
async def test_what_several_networks_ask_for_is_done_in_turns() -> None:
    threads, over = Threads("test", running=1, waiting=23), threading.Event()  # a share is 3
    order: list[str] = []
    tasks: list[asyncio.Task[Any]] = [asyncio.create_task(threads.run(over.wait, 30))]

    def ask(address: str, times: int) -> None:
        asking.set(address)
        tasks.extend(asyncio.create_task(threads.run(order.append, address)) for _ in range(times))

    await asyncio.sleep(0)
    for address in ("192.0.2.1", "192.0.2.2", "192.0.2.3"):
        ask(address, 5)
        await asyncio.sleep(0)
    ask("192.0.2.4", 2)
    await asyncio.sleep(0)
    over.set()
    await asyncio.gather(*tasks)
    assert [address[-1] for address in order[:8]] == list("12341234"), "who came last waited for all of the others'"
    assert sorted(order[8:]) == ["192.0.2.1"] * 3 + ["192.0.2.2"] * 3 + ["192.0.2.3"] * 3


@pytest.mark.anyio
async def test_who_asks_without_end_has_a_turn_for_each_of_another_network() -> None:
    """One network has a single call waiting, again and again; the other all that it may. Each gets half of the thread."""
    threads = Threads("test", running=1, waiting=23)
    order: list[str] = []

    def work(address: str) -> None:
        order.append(address)
        time.sleep(0.002)

    async def again(address: str) -> None:
        asking.set(address)
        while len(order) < 200:
            await threads.run(work, address)

    await asyncio.gather(again("192.0.2.1"), again("192.0.2.1"), *(again("192.0.2.2") for _ in range(10)))
    assert 90 <= order[:200].count("192.0.2.1") <= 110


@pytest.mark.anyio
async def test_who_goes_away_from_a_lane_leaves_their_turn_to_the_next() -> None:
    lanes = Lanes(inside=1, waiting=3)
    asking.set("192.0.2.1")
    first = await lanes.enter()
    gone, called, last = (asyncio.create_task(lanes.enter()) for _ in range(3))
    await asyncio.sleep(0)
    gone.cancel()
    lanes.leave(first)  # before the one that went away has noticed
    called.cancel()  # and the next goes away when its turn has come
    assert await last == first
    lanes.leave(first)
    assert await lanes.enter() == first
    for task in (gone, called):
        with pytest.raises(asyncio.CancelledError):
            await task
