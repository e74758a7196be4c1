"""Who waits for a transaction in the log waits together with the others, and never in vain for long."""

import asyncio

import pytest

from tertulia.events.marks import FeedEnded, Marks
from tertulia.events.stream import StreamUnavailable


class Log:
    """Counts how often somebody looks at its end."""

    def __init__(self) -> None:
        self.looks = 0
        self.looked = asyncio.Event()

    async def look(self) -> None:
        self.looks += 1
        self.looked.set()


async def waiting(marks: Marks, *xids: int) -> list[asyncio.Task[None]]:
    tasks = [asyncio.create_task(marks.wait(xid)) for xid in xids]
    await asyncio.sleep(0)
    return tasks


async def test_all_who_wait_for_a_transaction_go_on_when_it_arrives_and_nobody_else_does() -> None:
    marks = Marks(Log().look)
    *same, leaving, other = await waiting(marks, 7, 7, 7, 8)
    leaving.cancel()
    marks.arrived(7)
    await asyncio.gather(*same)
    assert leaving.cancelled()
    assert not other.done()
    marks.arrived(8)
    await other
    marks.close()


async def test_what_does_not_come_is_looked_for_once_for_all_who_wait() -> None:
    log = Log()
    marks = Marks(log.look, look_after=0)
    tasks = await waiting(marks, 1, 1, 2, 3)
    await log.looked.wait()
    for xid in (1, 2, 3):
        marks.arrived(xid)
    await asyncio.gather(*tasks)
    assert log.looks == 1


async def test_a_log_that_stays_behind_ends_the_wait_of_all() -> None:
    marks = Marks(Log().look, patience=0)
    results = await asyncio.gather(*await waiting(marks, 1, 1, 2), return_exceptions=True)
    assert [type(result) for result in results] == [StreamUnavailable] * 3
    marks.close()


async def test_nobody_waits_for_a_feed_that_has_ended() -> None:
    marks = Marks(Log().look)
    tasks = await waiting(marks, 1, 1, 2)
    marks.close()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(result) for result in results] == [FeedEnded] * 3
    with pytest.raises(FeedEnded):
        await marks.wait(3)
