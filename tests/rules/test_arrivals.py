"""Who waits for a transaction in the log waits together with the others, and never in vain for long."""

import asyncio

import pytest

from tertulia.events.log.jetstream import StreamUnavailable
from tertulia.events.queues.arrivals import Arrivals, FeedEnded


class Log:
    """Counts how often somebody looks at its end."""

    def __init__(self) -> None:
        self.looks = 0
        self.looked = asyncio.Event()

    async def look(self) -> None:
        self.looks += 1
        self.looked.set()


async def waiting(arrivals: Arrivals, *xids: int) -> list[asyncio.Task[None]]:
    tasks = [asyncio.create_task(arrivals.wait(xid)) for xid in xids]
    await asyncio.sleep(0)
    return tasks


async def test_all_who_wait_for_a_transaction_go_on_when_it_arrives_and_nobody_else_does() -> None:
    arrivals = Arrivals(Log().look)
    *same, leaving, other = await waiting(arrivals, 7, 7, 7, 8)
    leaving.cancel()
    arrivals.arrived(7)
    await asyncio.gather(*same)
    assert leaving.cancelled()
    assert not other.done()
    arrivals.arrived(8)
    await other
    arrivals.close()


async def test_what_does_not_come_is_looked_for_once_for_all_who_wait() -> None:
    log = Log()
    arrivals = Arrivals(log.look, look_after=0)
    tasks = await waiting(arrivals, 1, 1, 2, 3)
    await log.looked.wait()
    for xid in (1, 2, 3):
        arrivals.arrived(xid)
    await asyncio.gather(*tasks)
    assert log.looks == 1


async def test_a_log_that_stays_behind_ends_the_wait_of_all() -> None:
    arrivals = Arrivals(Log().look, patience=0)
    results = await asyncio.gather(*await waiting(arrivals, 1, 1, 2), return_exceptions=True)
    assert [type(result) for result in results] == [StreamUnavailable] * 3
    arrivals.close()


async def test_nobody_waits_for_a_feed_that_has_ended() -> None:
    arrivals = Arrivals(Log().look)
    tasks = await waiting(arrivals, 1, 1, 2)
    arrivals.close()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(result) for result in results] == [FeedEnded] * 3
    with pytest.raises(FeedEnded):
        await arrivals.wait(3)
