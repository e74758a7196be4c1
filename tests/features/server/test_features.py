"""A feature is one entry of one list: one of the tests' own joins a real server, and all that it brings works over HTTP."""

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
import uvicorn

from tertulia.engines import free_port
from tertulia.events.feature import Feature, made
from tertulia.events.queues.initial_state import StateRequest
from tertulia.events.queues.options import QueueOptions
from tertulia.kernel.chores import Chore
from tertulia.kernel.db import Database
from tertulia.kernel.monitor import serve_monitor
from tertulia.kernel.settings import Settings
from tertulia.people.users.authentication.queries import get_owner
from tertulia.server.app import services_of
from tertulia.server.catalogue import ALWAYS
from tertulia.server.features import FEATURES
from tertulia.server.health import Health
from tertulia.server.proxies import Proxies
from tertulia.server.web import DrainingServer, open_app
from tertulia.server.worker import run_worker
from tests.harness.knocks import Door, knocks_at
from tests.harness.schemas import Schemas
from tests.harness.server import Server, is_ready
from tests.harness.stage import Stage
from tests.harness.talk import Speaker, eventually


@pytest.fixture
def settings(server: Server, folder: Path) -> Settings:
    return msgspec.structs.replace(
        Settings(),
        postgres_url=server.postgres_url,
        nats_url=server.nats_url,
        storage_folder=str(folder),
        rate_limits=False,
        port=free_port(),
        metrics_port=free_port(),
        pool_size=2,
    )


@contextmanager
def web_of(settings: Settings, features: Sequence[Feature]) -> Iterator[str]:
    """A web server with these features in a thread of this process; its address."""
    started: Future[uvicorn.Server] = Future()

    async def serve() -> None:
        health = Health(Proxies())
        async with serve_monitor(settings, health.missing), open_app(settings, features, health) as (api, gateway):
            config = uvicorn.Config(api, port=settings.port, lifespan="off", log_config=None)
            server = DrainingServer(config, gateway, health)
            started.set_result(server)
            await server.serve()

    with ThreadPoolExecutor(1) as threads:
        served = threads.submit(asyncio.run, serve())
        served.add_done_callback(lambda _: started.cancel())
        server = started.result(30)
        try:
            url = f"http://localhost:{settings.port}"
            eventually(lambda: is_ready(f"http://127.0.0.1:{settings.metrics_port}"))
            yield url
        finally:
            server.should_exit = True
            served.result(30)


def unchecked(speaker: Speaker) -> Speaker:
    """The description that replies are held against is that of a server without the feature."""
    speaker.http.event_hooks = {}
    return speaker


def test_a_feature_is_added_to_the_server_by_one_entry_in_the_list(stage: Stage, settings: Settings) -> None:
    door = Door()
    with web_of(settings, [*FEATURES, knocks_at(door)]) as url:
        guest, host = (unchecked(stage.speaker(url=url)) for _ in range(2))
        with (
            guest.register(event_types=["knock"]) as of_guest,
            host.register(event_types=["knock"], fetch_event_types=["knock"]) as of_host,
        ):
            assert of_host.state["knocks"] == []
            assert guest.post("knocks")["count"] == 1
            [heard_by_guest] = of_guest.until(lambda event: event["type"] == "knock")
            [heard_by_host] = of_host.until(lambda event: event["type"] == "knock")
        assert (heard_by_guest["by"], heard_by_host["by"]) == ("you", f"user {guest.id}")
        later = host.post("register", event_types=[], fetch_event_types=["knock"])
        assert later["knocks"] == [guest.id]
        assert door.answered == 1
        described = host.http.get("openapi.json").json()
        assert described["paths"]["/api/v1/knocks"]["post"]["summary"] == "Knock at the door."
        schemas = Schemas(described)
        schemas.check_event(heard_by_host)
        schemas.check_state(later)
        assert not door.is_shut
    assert door.is_shut


async def test_the_worker_does_the_chores_of_the_features_in_the_list_as_often_as_is_set(settings: Settings) -> None:
    door, stop = Door(), asyncio.Event()
    settings = msgspec.structs.replace(settings, worker_pause_seconds=0.01)
    # Alone: the chores of the others are done by the worker of the shared server, with its settings.
    working = asyncio.create_task(run_worker(settings, stop, [knocks_at(door)]))
    async with asyncio.timeout(30):
        while door.swept < 60:  # once a second without the setting
            await asyncio.sleep(0.01)
        stop.set()
        await working
    assert door.is_shut


class Tally:
    """Counts how often a chore was done whose work is due then; `when` is SQL."""

    def __init__(self, name: str, when: str) -> None:
        self.times = 0
        self.chore = Chore(name, 0.01, lambda _: self._do, f"(select {when} as due) as {name}")

    async def _do(self) -> int:
        self.times += 1
        return 0


async def done(settings: Settings, often: Tally, *others: Tally) -> list[int]:
    """How often the others were done when that one was done often."""
    stop, feature = asyncio.Event(), Feature(name="tallies", chores=(often.chore, *(one.chore for one in others)))
    working = asyncio.create_task(run_worker(settings, stop, [feature]))
    async with asyncio.timeout(60):
        while often.times < 20:
            await asyncio.sleep(0.01)
        stop.set()
        await working
    return [one.times for one in others]


async def test_the_worker_does_a_chore_when_it_begins_and_then_when_its_work_is_due(settings: Settings) -> None:
    due, tomorrow = Tally("due", "now()"), Tally("tomorrow", "now() + interval '1 day'")
    [times] = await done(settings, due, tomorrow)
    assert times == 1


async def test_a_worker_that_cannot_look_for_what_is_due_does_all_its_chores(settings: Settings) -> None:
    broken, tomorrow = Tally("broken", "nonsense"), Tally("tomorrow", "now() + interval '1 day'")
    [times] = await done(settings, broken, tomorrow)
    assert times > 10


async def test_a_feature_gives_no_key_of_the_state_but_its_own(server: Server, settings: Settings) -> None:
    database = await Database.connect(server.postgres_url, shards=settings.shards, size=1)
    async with database, database.snapshot() as reader:
        caller = (await get_owner(reader, server.owner.user_id)).caller
        services = services_of(FEATURES, {Settings: settings, Database: database})
        parts = [(feature, made(part, services)) for feature in FEATURES for part in feature.state]
        fetch = frozenset().union(*(part.types for _, part in parts))
        parameters = {"include_subscribers": "true", "presence_history_limit_days": 14}
        everything = StateRequest(fetch=fetch, options=QueueOptions(), parameters=parameters)
        given: dict[str, list[str]] = {}
        for feature, part in parts:
            own = ALWAYS.keys() | getattr(feature.wire, "KEYS", {}).keys()
            keys = (await part.provide(reader, caller, everything, settings)).keys()
            assert keys <= own, (feature.name, keys - own)
            for key in keys:
                given.setdefault(key, []).append(feature.name)
    assert len(given) > 200
    assert {key: names for key, names in given.items() if len(names) > 1} == {}
