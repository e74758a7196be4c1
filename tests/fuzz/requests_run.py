"""A flood of generated requests, as every role at once: no answer is a failure or other than described, no memory grows.

    bin/fuzz requests --requests 1000000 --seed 5

A round has an organization for each role, a fresh one in the next, and a seed of its own: `--rounds 1 --seed N` repeats
round N. The first finding of each operation is shown with its request. A web process keeps the recent events of organizations
that somebody listens to, and for two minutes more; so the queues of a round end with it, and memory is level after some
minutes.
"""

import argparse
import asyncio
import shutil
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from urllib.parse import urlsplit

import httpx

from bench.processes import rss_bytes
from tests.fuzz.answers import Answers
from tests.fuzz.connection import Connection, NoAnswer
from tests.fuzz.requests import Requests
from tests.fuzz.values import Json
from tests.fuzz.world import ENDINGS, ROLES, end_queues, furnish, start
from tests.harness.realm import Realm
from tests.harness.server import OwnServer, Server
from tests.harness.stage import Backstage, Stage

LONG_POLL = "get_events"
MEGABYTE = 1024 * 1024


class Flood:
    """Rounds of requests at one server, and what they brought."""

    def __init__(self, server: Server, backstage: Backstage) -> None:
        self._server = server
        self._backstage = backstage
        self._document: Json = httpx.get(f"{server.url}/api/v1/openapi.json", timeout=60, trust_env=False).json()
        self._answers = Answers(self._document)
        self.statuses: Counter[int] = Counter()
        self.operations: Counter[str] = Counter()
        self.findings: dict[str, str] = {}
        """The first of each operation."""

    def round(self, seed: int, requests: int, roles: Sequence[str] = ROLES) -> None:
        """So many requests of each role."""
        with closing(Stage(self._server, self._backstage)) as stage:
            realms = {role: Realm(stage) for role in roles}
            callers = {role: self._caller(stage, realm, role, seed) for role, realm in realms.items()}

            async def all_at_once() -> None:
                asked = (self._ask(caller, requests, f"seed {seed}, {role}") for role, caller in callers.items())
                await asyncio.gather(*asked)

            asyncio.run(all_at_once())
            for realm in realms.values():
                end_queues(stage, realm)

    def _caller(self, stage: Stage, realm: Realm, role: str, seed: int) -> Requests:
        speaker, world = furnish(stage, realm, role)
        login = (speaker.email, speaker.user.api_key or "") if speaker else None
        without = frozenset(ENDINGS if speaker else ())
        return Requests(Random(f"{seed} {role}"), self._document, realm.host, login, world, without)

    async def _ask(self, caller: Requests, requests: int, name: str) -> None:
        address = urlsplit(self._server.url)
        async with Connection(address.hostname or "", address.port or 80) as connection:
            for _ in range(requests):
                request = caller.make()
                operation = request.operation
                if operation.name == LONG_POLL and b"dont_block=true" not in request.head:
                    continue  # it would wait for a minute, as it should
                try:
                    answer = await connection.ask(request.head + request.body)
                except NoAnswer as error:
                    self.findings.setdefault(operation.name, f"{name}: no answer: {error}\n  {request}")
                    continue
                self.statuses[answer.status] += 1
                self.operations[operation.name] += 1
                if fault := self._answers.fault(operation, answer):
                    self.findings.setdefault(operation.name, f"{name}: {fault}\n  {request}")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="bin/fuzz requests", description=__doc__)
    parser.add_argument("--requests", type=int, default=100_000, help="at least so many in all")
    parser.add_argument("--per-role", type=int, default=1_000, help="of each role in a round")
    parser.add_argument("--rounds", type=int, help="so many rounds instead")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--roles", nargs="*", default=ROLES, choices=ROLES)
    wanted = parser.parse_args(arguments)
    folder = Path(mkdtemp(prefix="tertulia-fuzz-"))
    server = start(folder)
    backstage = Backstage(server)
    flood = Flood(server, backstage)
    try:
        _rounds(flood, server, wanted)
    finally:
        backstage.close()
        server.stop()
    print(f"{flood.statuses.total()} requests: {dict(sorted(flood.statuses.items()))}")
    for finding in flood.findings.values():
        print(f"\n{finding}")
    if flood.findings:
        print(f"{len(flood.findings)} findings. Data and logs: {folder}")
        return 1
    shutil.rmtree(folder, ignore_errors=True)
    return 0


def _rounds(flood: Flood, server: OwnServer, wanted: argparse.Namespace) -> None:
    seed, began = wanted.seed, time.monotonic()
    while seed < wanted.seed + wanted.rounds if wanted.rounds else flood.statuses.total() < wanted.requests:
        flood.round(seed, wanted.per_role, wanted.roles)
        memory = {name: rss_bytes(server.state.pids[name]) // MEGABYTE for name in ("web", "worker", "relay")}
        rate = flood.statuses.total() / (time.monotonic() - began)
        print(
            f"seed {seed}: {flood.statuses.total()} requests, {rate:.0f} a second, memory in MB {memory}, "
            f"{len(flood.findings)} findings",
            flush=True,
        )
        seed += 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
