"""Of callers without credentials few requests of one network are under way at once, and those of others do not notice."""

import asyncio
import sys
from collections.abc import MutableMapping
from typing import Any

from tertulia.kernel.admission import OF_NETWORK, Admission
from tertulia.kernel.endpoint import collect, get
from tertulia.kernel.http import Api

AT_ONCE = 2


class Gate:
    """Holds requests until it is opened."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.inside = 0


@get("/gate")
async def gate(gate: Gate) -> None:
    """Wait at the gate."""
    gate.inside += 1
    await gate.opened.wait()


async def ask(api: Api, peer: str | None) -> int:
    statuses: list[int] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    client = None if peer is None else (peer, 1)
    scope: dict[str, Any] = {
        "type": "http",
        "method": "GET",
        "path": "/api/v1/gate",
        "query_string": b"",
        "headers": [],
        "client": client,
    }
    await api(scope, receive, send)
    return statuses[0]


async def test_one_network_has_some_requests_under_way_and_the_others_wait() -> None:
    gate = Gate()
    api = Api(collect(sys.modules[__name__]), services={Gate: gate}, admission=Admission(at_once=AT_ONCE))
    most = AT_ONCE * OF_NETWORK
    asked = [asyncio.create_task(ask(api, f"2001:db8::{number}")) for number in range(most + 3)]
    await asyncio.sleep(0.01)
    assert gate.inside == most
    for elsewhere in ("203.0.113.8", None, None):
        asked.append(asyncio.create_task(ask(api, elsewhere)))
    await asyncio.sleep(0.01)
    assert gate.inside == most + 3
    gate.opened.set()
    assert await asyncio.gather(*asked) == [200] * (most + 6)
    assert [await ask(api, None) for _ in range(most * 2)] == [200] * (most * 2)
