"""A client that goes away while its request waits is noticed; one that stays costs nothing afterwards."""

import asyncio

from tertulia.kernel.departure import Departure


class Line:
    """A connection, as `receive` of an ASGI server knows it."""

    def __init__(self) -> None:
        self.dropped = asyncio.Event()
        self.is_listened_to = False

    async def gone(self) -> None:
        self.is_listened_to = True
        try:
            await asyncio.sleep(0)
            await self.dropped.wait()
            await asyncio.sleep(0)
        finally:
            self.is_listened_to = False


async def turn() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_it_is_told_once_when_the_client_has_gone() -> None:
    line, told = Line(), list[str]()
    departure = Departure(line.gone(), lambda: told.append("gone"))
    await turn()
    assert (told, departure.is_noticed) == ([], False)
    line.dropped.set()
    await turn()
    assert (told, departure.is_noticed) == (["gone"], True)
    departure.close()
    assert told == ["gone"]


async def test_a_client_that_has_gone_already_is_told_of_at_once() -> None:
    async def gone() -> None:
        pass

    told: list[str] = []
    assert Departure(gone(), lambda: told.append("gone")).is_noticed
    assert told == ["gone"]


async def test_closing_it_ends_the_wait_and_nothing_is_told_later() -> None:
    line, told = Line(), list[str]()
    departure = Departure(line.gone(), lambda: told.append("gone"))
    await turn()
    line.dropped.set()  # in the same turn as the close: the wake-up is on its way already
    departure.close()
    assert not line.is_listened_to
    await turn()
    assert told == []


async def test_a_connection_that_breaks_counts_as_gone() -> None:
    async def gone() -> None:
        await asyncio.sleep(0)
        raise ConnectionResetError

    told: list[str] = []
    Departure(gone(), lambda: told.append("gone"))
    await turn()
    assert told == ["gone"]
