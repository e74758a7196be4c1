"""Whoever makes a process read the log again and again pays for it."""

import asyncio
import time
from typing import Any

import pytest

from tertulia.events.queues.feed import count_read
from tertulia.events.queues.queue import Queue
from tertulia.events.queues.takeover import BURST_SECONDS, BYTE_SECONDS, OF_ONE, READ_SECONDS, TakeOvers
from tertulia.kernel.auth import Caller, Person
from tertulia.kernel.errors import Refusal


class LongLog(TakeOvers):
    """Of which reading takes a second."""

    def __init__(self, *, limited: bool) -> None:
        nothing: Any = None
        super().__init__(nothing, nothing, nothing, nothing, nothing, limited=limited)
        self.seconds = 1.0
        self.events = 0
        self.size = 0
        self.inside: list[int] = []
        self.may_end = asyncio.Event()
        self.may_end.set()

    async def _take_over(self, caller: Caller, queue_id: str, last_event_id: int) -> Queue | None:
        assert self._budgets is None or self._budgets.left(str(caller.person_id)) > 0
        began = time.perf_counter()
        while time.perf_counter() - began < self.seconds:
            pass
        for _ in range(self.events):
            count_read(self.size)
        self.inside.append(caller.user_id)
        await self.may_end.wait()
        return None


def person(user_id: int, owner_id: int | None = None) -> Person:
    return Person(user_id, 1, 1, "", "", 400, None, "", "", b"{}", owner_id=owner_id)


async def test_who_has_the_log_read_too_often_is_refused_with_their_bots_and_others_are_not() -> None:
    queues = LongLog(limited=True)
    for number in range(int(BURST_SECONDS) + 1):
        await queues.take_over(person(1), "queue", number)
    for caller in (person(1), person(2, owner_id=1)):
        with pytest.raises(Refusal) as refused:
            await queues.take_over(caller, "queue", 100)
        assert refused.value.status == 429
    queues.seconds = 0
    assert await queues.take_over(person(3), "queue", 1) is None


async def test_what_the_nats_client_reads_for_somebody_is_theirs_too() -> None:
    queues = LongLog(limited=True)
    queues.seconds, queues.events = 0.0, int(BURST_SECONDS / READ_SECONDS) + 1
    await queues.take_over(person(1), "queue", 1)
    with pytest.raises(Refusal):
        await queues.take_over(person(1), "queue", 2)
    queues.events = 0
    assert await queues.take_over(person(2), "queue", 1) is None


async def test_what_is_read_is_paid_for_by_its_size() -> None:
    queues = LongLog(limited=True)
    queues.seconds, queues.events, queues.size = 0.0, 10, int(BURST_SECONDS / BYTE_SECONDS / 10) + 1
    await queues.take_over(person(1), "queue", 1)
    with pytest.raises(Refusal):
        await queues.take_over(person(1), "queue", 2)


async def test_few_take_overs_of_one_person_are_under_way_and_those_of_others_do_not_wait() -> None:
    queues = LongLog(limited=True)
    queues.seconds = 0.0
    queues.may_end.clear()
    bots = [person(user_id, owner_id=1) for user_id in range(100, 130)]
    polls = [asyncio.create_task(queues.take_over(bot, f"queue {bot.user_id}", 1)) for bot in bots]
    polls.append(asyncio.create_task(queues.take_over(person(2), "queue", 1)))
    while 2 not in queues.inside:
        await asyncio.sleep(0)
    assert len(queues.inside) == OF_ONE + 1
    queues.may_end.set()
    assert await asyncio.gather(*polls) == [None] * 31


async def test_of_a_herd_nobody_is_refused() -> None:
    queues = LongLog(limited=True)
    queues.seconds = 0.002
    for user_id in range(500):
        assert await queues.take_over(person(user_id), f"queue {user_id}", 1) is None


async def test_without_limits_nobody_is_refused() -> None:
    queues = LongLog(limited=False)
    queues.seconds = 0.1
    for number in range(3):
        assert await queues.take_over(person(1), "queue", number) is None
