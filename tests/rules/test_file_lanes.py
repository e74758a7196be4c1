"""Requests for files have few places of their own for each person: they hold up neither others nor other calls."""

import asyncio
import sys

import pytest

from tertulia.kernel.admission import WAITING, Admission
from tertulia.kernel.auth import Person
from tertulia.kernel.endpoint import collect, get
from tertulia.kernel.http import Api
from tests.rules.test_turns import ANN, BEN, BOT_OF_ANN, _Known, ask

AT_ONCE = 2
inside = 0
may_end = asyncio.Event()


@get("/file", unlimited=True)
async def file(caller: Person) -> None:
    """A file that takes its time."""
    await _stay()


@get("/stream", streams=True)
async def stream(caller: Person) -> None:
    """A body that takes its time."""
    await _stay()


@get("/other")
async def other(caller: Person) -> None:
    """Any other call."""


async def _stay() -> None:
    global inside
    inside += 1
    await may_end.wait()
    inside -= 1


@pytest.fixture
def api() -> Api:
    may_end.clear()
    return Api(collect(sys.modules[__name__]), admission=Admission(_Known(), at_once=1, files_at_once=AT_ONCE))


async def test_few_files_of_one_person_are_under_way_at_once_and_nobody_else_waits_for_them(api: Api) -> None:
    asked = [asyncio.create_task(ask(api, path, who)) for path in ("/file", "/stream") for who in (ANN, BOT_OF_ANN)]
    await asyncio.sleep(0.05)
    assert inside == AT_ONCE
    assert await ask(api, "/other", ANN) == 200
    others = asyncio.create_task(ask(api, "/file", BEN))
    await asyncio.sleep(0.05)
    assert inside == AT_ONCE + 1
    asked += [asyncio.create_task(ask(api, "/file", ANN)) for _ in range(WAITING * AT_ONCE - 2)]
    await asyncio.sleep(0.05)
    assert await ask(api, "/file", ANN) == 429
    may_end.set()
    assert {await one for one in (*asked, others)} == {200}
