"""State at registration + events = state at a later registration: people, bots, profiles, settings, what each has of their own.

Several people act at random and all at once, on two web processes; each registers now and then. A failure shows the
seed and what everybody did: TERTULIA_SEED=... plays the same acts again; timing decides, so that alone may not bring it back.
"""

import asyncio
import os
import random
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import uvloop

from tertulia.events.queues.initial_state import Provider
from tertulia.kernel.db import Database
from tertulia.server.features import FEATURES
from tests.harness.schemas import acheck_reply
from tests.harness.server import Server
from tests.system import model_client, own_model, people_model
from tests.system.own_acts import OWN_ACTS
from tests.system.people_acts import PEOPLE_ACTS
from tests.system.town import Town
from tests.system.web_process import second_web

pytestmark = [pytest.mark.system, pytest.mark.slow, pytest.mark.finding]

# A longer run: TERTULIA_HISTORIES=5000 bin/test tests/system/test_people_exactness.py --timeout 36000
HISTORIES = int(os.environ.get("TERTULIA_HISTORIES", "35")) // 7
SEED = int(os.environ.get("TERTULIA_SEED", random.randrange(10**9)))


def test_every_part_of_the_state_is_known_to_a_model() -> None:
    known = {*model_client.TYPES, *people_model.TYPES, *own_model.TYPES, *own_model.FIXED, *own_model.OLD_FORMS}
    parts = [part for feature in FEATURES for part in feature.state if isinstance(part, Provider)]
    types = {type for part in parts for type in part.types}
    assert types <= known, "a part of the state that no history compares"


async def play(seed: int, http: httpx.AsyncClient, urls: list[str], database: Database) -> int:
    town = Town(seed, http, urls, database)
    try:
        await town.make()
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            for who in range(len(town.people)):
                group.create_task(town.run(who, [*PEOPLE_ACTS, *OWN_ACTS]))
        async with asyncio.timeout(60):
            await town.check()
    except BaseException as problem:
        problem.add_note("\n".join([f"TERTULIA_SEED={seed}, what happened:", *town.story]))
        raise
    return len(town.story)


@pytest.fixture
def urls(server: Server, folder: Path) -> Iterator[list[str]]:
    with second_web(server, folder) as other:
        yield [server.url, other.url]


@pytest.mark.timeout(300)
def test_state_and_events_of_people_add_up_whatever_happens_at_the_same_time(server: Server, urls: list[str]) -> None:
    async def run() -> None:
        async with (
            await Database.connect(server.postgres_url, shards=4, size=4) as database,
            httpx.AsyncClient(timeout=30, trust_env=False, event_hooks={"response": [acheck_reply]}) as http,
        ):
            for seed in range(SEED, SEED + HISTORIES):
                await play(seed, http, urls, database)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run())
