"""What one request can cost: very long texts for every parameter of every operation, of the kinds that were slow somewhere once.

    bin/fuzz costs --characters 60000

One thread of a web process answers everybody, so a request that takes it long keeps everybody waiting. What is shown took more
processor time than it may. As somebody who may do everything, because most is refused to others before it is read.
"""

import argparse
import asyncio
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import cycle
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx

from bench.processes import own_cpu_seconds
from tests.fuzz.connection import Connection, NoAnswer
from tests.fuzz.requests import Operation, Request, Requests
from tests.fuzz.world import ENDINGS, furnish, start
from tests.harness.realm import Realm
from tests.harness.server import OwnServer
from tests.harness.stage import Backstage, Stage

MAX_SECONDS = 0.3
LONG_POLL = "get_events"
IN_ADDRESS = 15_000
"""Characters that fit into an address."""
SLOW_ONCE = {
    "a letter": "a",
    "blanks": " ",
    "lines": "\n",
    "letters with a selector": "a\ufe0f",
    "letters with a joiner": "a\u200d",
    "marks in disorder": "\u0315\u0300",
    "what normalizing makes long": "\ufdfa",
    "capitals that grow": "\u0130",
    "the place of a fault": " - at `$",
    "ranges of a pattern": "[\x01-\ufffd]",
    "stars": "*a",
    "brackets": "[(",
    "quotes": "> ",
    "code": "`",
    "cells": "|a",
    "mentions": "@**a",
    "channels": "#**a>",
    "addresses": "http://a.b/",
    "mail": "a@a.",
    "tags": "<a ",
    "entities": "&#",
    "escapes": "%2\\",
    "commas": "a,",
    "semicolons": "a;",
    "signs for letters": "4@8({[<369!1|70$5+%2",
    "numbers": "9",
    "words": "tea ",
    "wildcards": "% _",
}


class Cost(NamedTuple):
    seconds: float
    operation: str
    parameter: str
    kind: str
    status: int

    def __str__(self) -> str:
        return f"{self.seconds:6.2f} s  {self.operation} {self.parameter}: {self.kind} ({self.status})"


class Costs:
    """Measures requests to one server."""

    def __init__(self, server: OwnServer, backstage: Backstage) -> None:
        self._server = server
        self._backstage = backstage
        self.count = 0

    def dear(self, characters: int, kinds: Sequence[str] = tuple(SLOW_ONCE), *, in_turn: bool = False) -> list[Cost]:
        """What takes longer than it may, the dearest first. `in_turn`: each parameter gets one of the kinds, not all."""
        document = httpx.get(f"{self._server.url}/api/v1/openapi.json", timeout=60, trust_env=False).json()
        with closing(Stage(self._server, self._backstage)) as stage:
            realm = Realm(stage)
            speaker, world = furnish(stage, realm, "owner")
            assert speaker is not None
            login = speaker.email, speaker.user.api_key or ""
            without = frozenset({*ENDINGS, LONG_POLL})
            requests = Requests(Random(1), document, realm.host, login, world, without)
            return sorted(asyncio.run(self._ask_all(requests, characters, kinds, in_turn)), reverse=True)

    async def _ask_all(self, requests: Requests, characters: int, kinds: Sequence[str], in_turn: bool) -> list[Cost]:
        address = urlsplit(self._server.url)
        found = []
        turns = cycle(kinds)
        async with Connection(address.hostname or "", address.port or 80) as connection:
            for operation in requests.operations:
                for parameter, is_in_address in _parameters(operation):
                    for kind in [next(turns)] if in_turn else kinds:
                        unit = SLOW_ONCE[kind]
                        text = unit * ((IN_ADDRESS if is_in_address else characters) // len(unit.encode()))
                        for value in (text, [text]) if not is_in_address else (text,):
                            request = requests.with_value(operation, parameter, value)
                            cost = await self._cost(connection, request, parameter, kind)
                            if cost.seconds > MAX_SECONDS:
                                found.append(cost)
        return found

    async def _cost(self, connection: Connection, request: Request, parameter: str, kind: str) -> Cost:
        web = self._server.state.pids["web"]
        before = own_cpu_seconds(web)
        try:
            status = (await connection.ask(request.head + request.body)).status
        except NoAnswer:
            status = 0
        self.count += 1
        return Cost(own_cpu_seconds(web) - before, request.operation.name, parameter, kind, status)


def _parameters(operation: Operation) -> Iterator[tuple[str, bool]]:
    """Names, and whether they are sent in the address."""
    for parameter in operation.parameters:
        if parameter["in"] in ("path", "query"):
            yield parameter["name"], True
    for name in operation.body.get("properties", {}):
        yield name, False


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="bin/fuzz costs", description=__doc__)
    parser.add_argument("--characters", type=int, default=60_000, help="how long the texts are")
    wanted: Any = parser.parse_args(arguments)
    folder = Path(mkdtemp(prefix="tertulia-fuzz-"))
    server = start(folder)
    try:
        with closing(Backstage(server)) as backstage:
            costs = Costs(server, backstage)
            found = costs.dear(wanted.characters)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{costs.count} requests; {len(found)} took more than {MAX_SECONDS} s of processor time.")
    for cost in found:
        print(f"  {cost}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
