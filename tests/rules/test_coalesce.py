"""Look-ups that come together share one query, and each caller has an answer of its own."""

import asyncio
from collections.abc import Sequence

from tertulia.kernel.coalesce import Coalescer


class Source:
    """Doubles numbers when it is let; negative ones are unknown."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []
        self.gate = asyncio.Event()
        self.error: Exception | None = None

    async def read(self, keys: Sequence[int]) -> dict[int, int]:
        self.asked.append(list(keys))
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        return {key: key * 2 for key in keys if key >= 0}


async def test_what_is_asked_during_a_query_goes_out_together_as_the_next_one() -> None:
    source = Source()
    coalescer = Coalescer(source.read)
    first = coalescer.load(1)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    rest = [coalescer.load(key) for key in (1, 2, 2, -3)]
    await asyncio.sleep(0)
    source.gate.set()
    assert await first == 2
    assert await asyncio.gather(*rest) == [2, 4, 4, None]
    assert source.asked == [[1], [1, 2, -3]]


async def test_a_caller_who_goes_away_takes_nobody_along() -> None:
    source = Source()
    coalescer = Coalescer(source.read)
    leaving, staying = coalescer.load(5), coalescer.load(5)
    await asyncio.sleep(0)
    leaving.cancel()
    await asyncio.sleep(0)
    source.gate.set()
    assert await staying == 10
    assert leaving.cancelled()


async def test_a_failed_query_fails_all_who_waited_for_it_and_nobody_after() -> None:
    source = Source()
    source.error = ConnectionError("away")
    source.gate.set()
    coalescer = Coalescer(source.read)
    results = await asyncio.gather(coalescer.load(1), coalescer.load(1), coalescer.load(2), return_exceptions=True)
    assert [type(result) for result in results] == [ConnectionError] * 3
    source.error = None
    assert await coalescer.load(1) == 2
