"""Whatever people did, an organization that leaves and arrives elsewhere is the same for each of them, ids included.

What they do are the random histories of tests/system: one kind is about messages, channels and groups, the other about people,
bots, settings and what is one's own.
"""

import asyncio
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
import uvloop
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st

from tertulia.kernel.db import Database
from tests.features.archives.test_imports import (
    Imported,
    check_same_lines,
    export_of,
    imported,
    same_for,
    wait_for_pictures,
)
from tests.harness.server import OwnServer, Server
from tests.harness.stage import Backstage, Stage
from tests.system.acts import History
from tests.system.histories import Realm, World
from tests.system.own_acts import OWN_ACTS
from tests.system.people_acts import PEOPLE_ACTS
from tests.system.random_histories import AS_THEY_COME, PEOPLE, histories
from tests.system.town import Town

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

# More of them: ROUND_TRIPS=100 bin/test tests/features/archives/test_random_round_trips.py --timeout 36000
ROUND_TRIPS = int(os.environ.get("ROUND_TRIPS", "1"))
SEED = int(os.environ.get("TERTULIA_SEED", random.randrange(10**9)))
KINDS = ["talk", "people"][:: 1 if SEED % 2 else -1]
PARTS = 6
"""Histories that the people of one organization live through, one after the other."""


class Left(NamedTuple):
    """An organization that has a history."""

    id: int
    subdomain: str
    story: list[str]


async def talk(seed_: int, world: World) -> Left:
    """Of messages, channels and groups."""
    drawn: list[History] = []

    @seed(seed_)
    @given(st.lists(histories, min_size=PARTS, max_size=PARTS))
    @settings(AS_THEY_COME, max_examples=1, phases=[Phase.generate])
    def draw(several: list[History]) -> None:
        drawn.extend(several)

    draw()
    realm = await Realm.make(world, PEOPLE)
    try:
        for history in drawn:
            await realm.live(history)
    finally:
        realm.let_go()
    return Left(realm.id, realm.subdomain, realm.story)


async def live_together(seed_: int, world: World) -> Left:
    """Of people, bots, settings and what is one's own."""
    town = Town(seed_, world.http, list(world.urls), world.database)
    await town.make()
    for _ in range(PARTS):
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            for who in range(len(town.people)):
                group.create_task(town.run(who, [*PEOPLE_ACTS, *OWN_ACTS]))
    return Left(town.realm_id, town.subdomain, town.story)


async def lived(server: Server, seed_: int, kind: str) -> Left:
    async with (
        await Database.connect(server.postgres_url, shards=4, size=4) as database,
        httpx.AsyncClient(timeout=30, trust_env=False) as http,
    ):
        world = World(database, http, [server.url])
        return await (talk if kind == "talk" else live_together)(seed_, world)


@pytest.fixture(scope="module")
def elsewhere(shared_folder: Path) -> Iterator[Stage]:
    """A server that has nothing but its demo at first. Whoever comes second finds their ids taken."""
    server = OwnServer.start(shared_folder)
    backstage = Backstage(server)
    stage = Stage(server, backstage)
    yield stage
    stage.close()
    backstage.close()
    server.stop()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", range(ROUND_TRIPS))
def test_everybody_finds_what_they_had(
    server: Server, backstage: Backstage, elsewhere: Stage, folder: Path, kind: str, number: int
) -> None:
    assert isinstance(server, OwnServer)
    assert isinstance(elsewhere.server, OwnServer)
    stage = Stage(server, backstage)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        left = runner.run(lived(server, SEED + number, kind))
    try:
        wait_for_pictures(stage, left.id)
        archive = export_of(server, left.subdomain, folder / "left.tar")
        was = server.url.replace("://", f"://{left.subdomain}.")
        arrived = imported(elsewhere.server, elsewhere, archive.file, left.subdomain, "--source-url", was)
        shifts = arrived.report["shifts"]
        assert not shifts or (number, kind) != (0, KINDS[0])
        wait_for_pictures(elsewhere, arrived.report["realm_id"])
        again = export_of(elsewhere.server, left.subdomain, folder / "again.tar")
        check_same_lines(archive, again, shifts)
        people = stage.sql("select id from account where realm_id = %s and is_active order by id", left.id)
        there = Imported(stage, left.subdomain, {})
        for (person,) in people:
            now = arrived.person(person + shifts.get("person", 0))
            same_for(there.person(person), there, now, arrived, without="[0-9]+" if shifts else "nothing")
    except BaseException as problem:
        problem.add_note("\n".join([f"TERTULIA_SEED={SEED + number}, what happened:", *left.story]))
        raise
    finally:
        stage.close()
