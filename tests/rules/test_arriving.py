"""Bodies that arrive have a bound together, and one person's a part of it: nobody fills the memory with half a request."""

import asyncio
import contextlib
import sys
from collections.abc import MutableMapping
from typing import Any

import pytest

from tertulia.kernel.admission import Admission
from tertulia.kernel.arriving import SHARES, ArrivingBodies
from tertulia.kernel.auth import Person
from tertulia.kernel.endpoint import collect, post
from tertulia.kernel.errors import Refusal
from tertulia.kernel.http import Api
from tests.rules.test_turns import ANN, BEN, BOT_OF_ANN, _Known

PIECE = 1000
MOST = SHARES * 3 * PIECE


@post("/note")
async def note(caller: Person, *, text: str = "") -> None:
    """Something with a body."""


class Sender:
    """Sends a piece of a body, and the rest when it is told to."""

    def __init__(self, api: Api, who: tuple[int, int | None]) -> None:
        self._pieces: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.answer: list[MutableMapping[str, Any]] = []
        headers = [(b"authorization", f"{who[0]} {who[1] or 0}".encode()), (b"transfer-encoding", b"chunked")]
        scope = {
            "type": "http", "method": "POST", "path": "/api/v1/note", "query_string": b"", "headers": headers,
            "client": ("203.0.113.7", 1),
        }  # fmt: skip
        self.done = asyncio.ensure_future(api(scope, self._pieces.get, self._take))

    async def _take(self, message: MutableMapping[str, Any]) -> None:
        self.answer.append(message)

    async def send(self, piece: bytes = b"x" * PIECE, *, more: bool = True) -> None:
        await self._pieces.put({"type": "http.request", "body": piece, "more_body": more})
        await asyncio.sleep(0.01)

    @property
    def status(self) -> int | None:
        return self.answer[0]["status"] if self.answer else None


@pytest.fixture
def api() -> Api:
    return Api(collect(sys.modules[__name__]), admission=Admission(_Known(), arriving_bytes=MOST))


async def test_one_person_with_their_bots_holds_a_part_and_others_go_on(api: Api) -> None:
    first, second, third = Sender(api, ANN), Sender(api, BOT_OF_ANN), Sender(api, ANN)
    for _ in range(2):
        await first.send()
    await second.send()
    assert (first.status, second.status) == (None, None)
    await third.send()
    assert third.status == 503
    assert (b"connection", b"close") in [(name.lower(), value) for name, value in third.answer[0]["headers"]]
    other = Sender(api, BEN)
    await other.send(more=False)
    assert other.status == 200
    await first.send(b"", more=False)
    assert first.status == 200
    again = Sender(api, ANN)
    await again.send()
    await again.send(more=False)
    assert again.status == 200
    await second.send(b"", more=False)


async def test_whoever_goes_away_gives_back_what_they_held(api: Api) -> None:
    gone = Sender(api, ANN)
    for _ in range(3):
        await gone.send()
    await gone._pieces.put({"type": "http.disconnect"})
    await gone.done
    again = Sender(api, ANN)
    for _ in range(3):
        await again.send()
    await again.send(b"", more=False)
    assert again.status == 200


async def test_when_all_together_hold_too_much_whoever_holds_little_goes_on(api: Api) -> None:
    crowd = [Sender(api, (100 + number, None)) for number in range(MOST // PIECE // 2)]
    for each in crowd:
        await each.send()
        await each.send()
    little = Sender(api, BEN)
    await little.send(b"text=x", more=False)
    assert little.status == 200
    little = Sender(api, BEN)
    await little.send(b"text=x")
    await crowd[0].send(b"x")
    assert crowd[0].status == 503
    await little.send(b"", more=False)
    assert little.status == 200
    for each in crowd[1:]:
        await each.send(b"", more=False)
        assert each.status == 200


def test_all_together_have_a_bound() -> None:
    bodies = ArrivingBodies(MOST)
    for person in range(SHARES):
        bodies.hold(f"person {person}", 3 * PIECE)
    with pytest.raises(Refusal):
        bodies.hold("person 99", 3 * PIECE)
    bodies.let_go("person 3", 3 * PIECE)
    bodies.hold("person 99", 3 * PIECE)


def test_however_many_hold_an_equal_part_they_never_hold_more_than_twice_the_bound() -> None:
    bodies = ArrivingBodies(MOST)
    held = 0
    for person in range(1000):
        with contextlib.suppress(Refusal):
            while True:
                bodies.hold(f"person {person}", 10)
                held += 10
    assert MOST < held <= 2 * MOST
