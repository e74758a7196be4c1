"""A database, a NATS server and relays, each of which a test may kill, and what the streams hold in the end."""

import asyncio
import itertools
import os
import shutil
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import asyncpg
import nats
import psycopg2
import psycopg2.errors
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from tertulia.engines import ChildProcess, Nats, Postgres, find_nats_server, find_postgres
from tertulia.events.log.epoch import EpochRecord, read_epoch
from tertulia.events.log.jetstream import StreamUnavailable
from tertulia.events.log.stream import EventStream, Stored, parse_live
from tertulia.kernel.engine_addresses import nats_servers
from tertulia.kernel.settings import Settings, load_settings
from tertulia.migrations import migrate

Value = TypeVar("Value")
SHARDS = 3
MIGRATED = "migrated"
# A wait ends as soon as it is over; a machine that tests two things at once may be slow.
PATIENCE_SECONDS = 100.0
_numbers = itertools.count(1)


class Site:
    """One database of a shared PostgreSQL, a NATS server of its own, and relays between them."""

    def __init__(self, postgres: Postgres, folder: Path, **settings: Any) -> None:
        self.postgres = postgres
        self.folder = folder
        self.database = f"relay_{os.getpid()}_{next(_numbers)}"
        self.nats = Nats(find_nats_server(load_settings()), folder / "nats", sync_seconds=1)
        self.relays: list[ChildProcess] = []
        self._given = {"shards": SHARDS, "audit_seconds": 1.0, "slot": self.database, "log_level": "debug", **settings}
        self.live: list[Stored] = []
        self.problems: list[str] = []

    @property
    def postgres_url(self) -> str:
        return self.postgres.url_of(self.database)

    @property
    def nats_url(self) -> str:
        return self.nats.url

    @property
    def settings(self) -> Settings:
        return Settings(postgres_url=self.postgres_url, nats_url=self.nats.url, **self._given)

    def start(self) -> None:
        administer(self.postgres, f"create database {self.database} template {MIGRATED}")
        self.nats.start()

    def stop(self) -> None:
        for relay in self.relays:
            relay.kill()
        self.nats.stop()
        if not self.postgres.process.is_alive():
            self.postgres.start()
        self._drop_slots()
        administer(self.postgres, f"drop database {self.database} with (force)")

    def _drop_slots(self) -> None:
        """The sender of a killed relay may hold its slot for a moment longer."""
        slots = "from pg_replication_slots where database = current_database()"
        deadline = time.monotonic() + 20
        while True:
            try:
                administer(self.postgres, f"select pg_drop_replication_slot(slot_name) {slots}", self.database)
                return
            except psycopg2.errors.ObjectInUse:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def start_relay(self, **changed: str) -> ChildProcess:
        script = str(Path(__file__).with_name("relay_process.py"))
        environment = {**os.environ, **self.settings.environment(), **changed}
        relay = ChildProcess([sys.executable, script], self.folder / "relay.log", env=environment)
        relay.start()
        self.relays.append(relay)
        return relay

    def start_process(self, name: str, **changed: str) -> ChildProcess:
        """`tertulia web`, `relay` or `worker`, which ends with the site."""
        process = self._command(name, **changed)
        process.start()
        self.relays.append(process)
        return process

    def run_command(self, name: str, *options: str, **changed: str) -> str:
        """What a command of `tertulia` says, until it has ended."""
        process = self._command(name, *options, **changed)
        said = self.folder / f"{name}.log"
        said.unlink(missing_ok=True)
        process.start()
        assert process.wait(60), f"`tertulia {name}` does not end"
        return said.read_text()

    def _command(self, name: str, *options: str, **changed: str) -> ChildProcess:
        environment = {**os.environ, **self.settings.environment(), **changed}
        command = [sys.executable, "-m", "tertulia", name, *options]
        return ChildProcess(command, self.folder / f"{name}.log", env=environment)

    async def start_first_relay(self) -> ChildProcess:
        """The first one makes the slot: what was committed before that is no event of any epoch."""
        relay = self.start_relay()
        await self.wait_for_log("caught up")
        return relay

    async def wait_for_log(self, text: str) -> None:
        """Until a relay of this site has said that."""

        async def said() -> bool:
            return f'"event": "{text}"' in self.log()

        await eventually(said)

    def log(self) -> str:
        return (self.folder / "relay.log").read_text()

    def copy_store(self) -> Path:
        copy = self.folder / "store.copy"
        shutil.copytree(self.nats.folder / "store", copy)
        return copy

    def replace_store(self, copy: Path | None) -> None:
        """Put an older copy, or nothing, in the place of JetStream's folder. NATS must be down."""
        shutil.rmtree(self.nats.folder / "store")
        if copy is not None:
            shutil.copytree(copy, self.nats.folder / "store")

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Client]:
        async def quiet(_: Exception) -> None:
            pass

        nc = await nats.connect(
            nats_servers(self.nats.url), error_cb=quiet, max_reconnect_attempts=-1, reconnect_time_wait=0
        )
        try:
            yield nc
        finally:
            await nc.close()

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Collect what is republished; afterwards, one number must have had one meaning in its epoch."""
        async with self.connected() as nc:

            async def arrived(msg: Msg) -> None:
                self.live.append(parse_live(msg))

            await nc.subscribe("live.>", cb=arrived)
            await nc.flush()
            yield
        meant: dict[tuple[int, str, int], str] = {}
        for one in self.live:
            key = (one.epoch, one.subject.split(".")[1], one.seq)
            assert meant.setdefault(key, one.pos) == one.pos, f"{key} meant {meant[key]} and {one.pos}"

    async def epoch(self) -> EpochRecord | None:
        async with self.connected() as nc:
            return await read_epoch(nc)

    async def wait_for_epoch(self, newer_than: int, seconds: float = PATIENCE_SECONDS) -> EpochRecord:
        async def announced() -> EpochRecord | None:
            try:
                record = await self.epoch()
            except (StreamUnavailable, OSError, nats.errors.Error):
                return None
            return record if record and record.epoch > newer_than else None

        return await eventually(announced, seconds)

    async def count(self) -> int:
        """How many events the announced epoch holds."""
        async with self.connected() as nc:
            record = await read_epoch(nc)
            assert record is not None
            streams = EventStream(nc, SHARDS)
            found = [await streams.info(shard, record.epoch) for shard in range(SHARDS)]
            return sum(info.messages for info in found if info)

    async def stored(self) -> dict[int, list[Stored]]:
        """All events of the announced epoch by shard; numbers must follow each other, positions must not go back."""
        found: dict[int, list[Stored]] = {}
        async with self.connected() as nc:
            record = await read_epoch(nc)
            assert record is not None
            streams = EventStream(nc, SHARDS)
            for shard in range(SHARDS):
                info = await streams.info(shard, record.epoch)
                assert info is not None
                until = info.last_seq if info.messages else 0
                found[shard] = [one async for one in streams.read(shard, record.epoch, f"ev.{shard}.>", 0, until)]
                numbers = [one.seq for one in found[shard]]
                assert numbers == list(range(info.first_seq, info.last_seq + 1))
                durable = [one.pos for one in found[shard] if one.xid is not None]
                assert durable == sorted(set(durable)), "events are doubled or out of order"
        return found


async def eventually(ask: Callable[[], Awaitable[Value | None]], seconds: float = PATIENCE_SECONDS) -> Value:
    """The first true answer."""
    async with asyncio.timeout(seconds):
        while not (answer := await ask()):
            await asyncio.sleep(0.05)
    return answer


def administer(postgres: Postgres, statement: str, database: str = "postgres") -> None:
    connection = psycopg2.connect(postgres.url_of(database))
    connection.autocommit = True
    try:
        with connection.cursor() as cursor:
            cursor.execute(statement)
    finally:
        connection.close()


AnySite = TypeVar("AnySite", bound=Site)


@asynccontextmanager
async def database(site: Site) -> AsyncIterator[Any]:
    """A connection to the site's database."""
    connection = await asyncpg.connect(site.postgres_url, timeout=10)
    try:
        yield connection
    finally:
        connection.terminate()


@pytest.fixture(scope="session")
def relay_postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    with Postgres(find_postgres(load_settings()), tmp_path_factory.mktemp("relay")) as postgres:
        make_template(postgres)
        yield postgres


def make_template(postgres: Postgres) -> None:
    """The database that those of the sites are copies of."""
    administer(postgres, f"create database {MIGRATED}")
    migrate(postgres.url_of(MIGRATED))


def making(build: Callable[..., AnySite]) -> Iterator[Callable[..., AnySite]]:
    """What a fixture gives that makes sites: each is started, and stopped in the end."""
    made: list[AnySite] = []

    def make(**settings: Any) -> AnySite:
        site = build(**settings)
        made.append(site)
        site.start()
        return site

    yield make
    for site in made:
        site.stop()


@pytest.fixture
def make_site(relay_postgres: Postgres, tmp_path: Path) -> Iterator[Callable[..., Site]]:
    yield from making(partial(Site, relay_postgres, tmp_path))


@pytest.fixture
def site(make_site: Callable[..., Site]) -> Site:
    return make_site()
