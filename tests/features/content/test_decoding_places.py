"""Nobody waits for long for somebody else's picture that takes long to decode."""

import asyncio
import time

import pytest

from tertulia.content.pictures import places
from tertulia.content.pictures.places import SLOW_SECONDS, DecodingPlaces

pytestmark = pytest.mark.timed


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> DecodingPlaces:
    """Places where a twentieth of a second is long."""
    monkeypatch.setattr(places, "LONG_SECONDS", 0.05)
    return DecodingPlaces(10)


async def decode(shown: DecodingPlaces, person: str, ended: asyncio.Event) -> None:
    async with shown.enter(person):
        await ended.wait()


async def waits(shown: DecodingPlaces, person: str) -> bool:
    """Whether somebody's picture is not decoded within half a second."""
    try:
        async with asyncio.timeout(0.5), shown.enter(person):
            return False
    except TimeoutError:
        return True


async def test_while_a_picture_takes_long_those_of_others_are_decoded_beside_it(shown: DecodingPlaces) -> None:
    ended = asyncio.Event()
    long = asyncio.create_task(decode(shown, "ann", ended))
    await asyncio.sleep(0)
    assert not await waits(shown, "ben")
    assert await waits(shown, "ann"), "of one person one picture is decoded"
    ended.set()
    await long
    assert not await waits(shown, "ann")


async def test_whose_pictures_took_long_has_no_second_place(
    shown: DecodingPlaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = time.monotonic
    ended = asyncio.Event()
    long = asyncio.create_task(decode(shown, "ann", ended))
    await asyncio.sleep(0)
    monkeypatch.setattr(time, "monotonic", lambda: clock() + 2 * SLOW_SECONDS)
    ended.set()
    await long
    ended.clear()
    other = asyncio.create_task(decode(shown, "cleo", ended))
    await asyncio.sleep(0)
    assert await waits(shown, "ann")
    assert not await waits(shown, "ben")
    ended.set()
    await other
