"""A server for the gate, the references beside it, and the clocks of both."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import asyncpg

from bench.connection import Connection
from bench.gate.bare_statements import BareStatement
from bench.gate.counting import Record, read_records
from bench.http_bytes import request
from bench.polls import bare_server
from bench.processes import cpu_seconds, own_cpu_seconds, ports_towards
from bench.stage import Stage
from tertulia.engines import find_postgres, free_port
from tertulia.kernel.settings import load_settings
from tests.harness.server import Channel, User

CLIENTS = 64
USERS = 200
CHANNELS = 50
QUIET_CHANNELS = 2
"""Where one person alone writes: what they have read there stays one range."""
READ_CHANNELS, READ_MESSAGES = 5, 20_000
SETTLING_SECONDS = 0.03
"""What follows an answer, its event above all, belongs to the request as well."""

# The machine's own rhythm would hit one round and spare another.
_CALM = (
    "alter system set autovacuum = off",
    "alter system set checkpoint_timeout = '1h'",
    # Left alone PostgreSQL decides anew on each connection, by estimates, whether to plan a statement each time.
    "alter system set plan_cache_mode = force_generic_plan",
    "alter system set log_parameter_max_length = 0",
    "select pg_reload_conf()",
    "vacuum analyze",
    "checkpoint",
)
_TOPIC = "select id, name from topic where conversation_id = $1 order by id limit 1"
_NEWEST = "select max(id) from message where conversation_id = any($1::bigint[])"
_TABLES = "select relname, pg_relation_filenode(oid)::bigint as file from pg_class where relkind in ('r', 't')"


class Clocks(NamedTuple):
    """Seconds of processor time: of the web process and of those of PostgreSQL that serve it, and of the references."""

    web: float
    backends: dict[int, float]
    bare_web: float
    bare_postgres: float


class Used(NamedTuple):
    """Between two readings of the clocks."""

    web: float
    postgres: float
    bare_web: float
    bare_postgres: float

    @classmethod
    def between(cls, before: Clocks, after: Clocks) -> "Used":
        postgres = sum(used - before.backends.get(pid, 0.0) for pid, used in after.backends.items())
        bare_web = after.bare_web - before.bare_web
        return cls(after.web - before.web, postgres, bare_web, after.bare_postgres - before.bare_postgres)


class Place(NamedTuple):
    """A moment, as the two logs have it."""

    lsn: str
    """Of the write-ahead log."""
    log_size: int


class Scene:
    """People, channels and messages; ways to ask the server and the references, and to know what that took."""

    def __init__(self, stage: Stage, admin: Any, bare: Any) -> None:
        self.stage = stage
        self.admin = admin
        """A connection for the gate's own questions."""
        self._bare = bare
        self._prepared: dict[str, Any] = {}
        self._connections: dict[tuple[int, str], list[Connection]] = {}
        filled = stage.fill(users=USERS, channels=CHANNELS + QUIET_CHANNELS)
        self.channels, self.quiet_channels = filled[:CHANNELS], filled[CHANNELS:]
        self.read_channels = stage.fill(channels=READ_CHANNELS, messages=READ_MESSAGES)
        self.bare_channel, *self._fresh = stage.fill(channels=3, messages=3)
        self.bare_topic = 0
        self.bare_user = stage.server.members[0]
        """Writes in the references alone."""
        self.read_topic = ""
        self.newest_read = 0
        """The newest message of the channels that there are to read."""
        self.people: list[User] = []
        self.bare_port = free_port()
        self.bare_pid = 0
        self._log = stage.folder / "data" / "postgres" / "postgres.log"

    async def settle(self) -> None:
        self.people = await self.stage.people(CLIENTS)
        self.bare_topic = (await self.admin.fetchrow(_TOPIC, self.bare_channel.stream_id))["id"]
        self.read_topic = (await self.admin.fetchrow(_TOPIC, self.read_channels[0].stream_id))["name"]
        self.newest_read = await self.admin.fetchval(_NEWEST, [channel.stream_id for channel in self.read_channels])
        for statement in _CALM:
            await self.admin.execute(statement)

    async def tidy_up(self) -> None:
        """What earlier cases left behind in the tables is no burden for the next: autovacuum, which would see to it, is off."""
        await self.admin.execute("vacuum")

    async def fresh_channel(self) -> Channel:
        """One in which nobody has written yet."""
        if not self._fresh:
            self._fresh = await asyncio.to_thread(self.stage.fill, channels=3, messages=3)
        return self._fresh.pop()

    async def ask(self, port: int, requests: Sequence[Sequence[bytes]], line: str = "") -> list[bytes]:
        """The requests of as many connections, one after the other on each; all answers. `line`: connections apart."""
        connections = self._connections.setdefault((port, line), [])
        loop = asyncio.get_running_loop()
        while len(connections) < len(requests):
            connections.append((await loop.create_connection(Connection, "127.0.0.1", port))[1])

        async def one(connection: Connection, own: Sequence[bytes]) -> list[bytes]:
            answers = []
            for each in own:
                connection.ask(each)
                await connection.arrived
                answers.append(connection.answer.body)
            return answers

        return [answer for own in await asyncio.gather(*map(one, connections, requests)) for answer in own]

    def hang_up(self) -> None:
        """Close all connections: one that is not used for long would be closed by the server."""
        for connection in itertools.chain.from_iterable(self._connections.values()):
            connection.close()
        self._connections.clear()

    async def delete_queues(self, queues: Iterable[tuple[User, str]]) -> None:
        """So that those of one case are no work for the next."""
        requests = [request("DELETE", "/api/v1/events", user, {"queue_id": queue_id}) for user, queue_id in queues]
        await self.ask(self.stage.port, [requests])

    async def run_bare(self, bare: BareStatement, units: int) -> None:
        """The reference's statement, as often as it takes for so many units."""
        prepared = self._prepared.get(bare.sql) or await self._bare.prepare(bare.sql)
        self._prepared[bare.sql] = prepared
        for _ in range(units // bare.units):
            await prepared.fetch(*bare.arguments)

    async def clocks(self) -> Clocks:
        backends = {pid: own_cpu_seconds(pid) for pid in await self.backends()}
        web = cpu_seconds(self.stage.pids["web"])
        return Clocks(web, backends, own_cpu_seconds(self.bare_pid), own_cpu_seconds(self._bare.get_server_pid()))

    async def backends(self) -> set[int]:
        """The processes of PostgreSQL that serve the web process."""
        ports = ports_towards(self.stage.pids["web"], urlsplit(self.stage.server.postgres_url).port or 5432)
        rows = await self.admin.fetch("select pid from pg_stat_activity where client_port = any($1::int[])", ports)
        return {row["pid"] for row in rows}

    async def log_statements(self, *, on: bool) -> None:
        await self.admin.execute(f"alter system set log_min_duration_statement = {0 if on else -1}")
        await self.admin.execute(f"alter system set log_planner_stats = {'on' if on else 'off'}")
        await self.admin.execute("select pg_reload_conf()")
        await asyncio.sleep(0.1)

    async def place(self) -> Place:
        lsn = await self.admin.fetchval("select pg_current_wal_insert_lsn()::text")
        return Place(lsn, self._log.stat().st_size)

    def log_between(self, start: Place, end: Place) -> bytes:
        with self._log.open("rb") as file:
            file.seek(start.log_size)
            return file.read(end.log_size - start.log_size)

    async def records(self, start: str, end: str) -> list[Record]:
        # A commit waits until everything before it is on disk, where pg_waldump finds it.
        await self.admin.execute("select pg_logical_emit_message(true, 'bench', '')")
        program = find_postgres(load_settings()) / "pg_waldump"
        cluster = self.stage.folder / "data" / "postgres" / "cluster"
        return await asyncio.to_thread(read_records, program, cluster, start, end)

    async def tables(self) -> dict[int, str]:
        return {row["file"]: row["relname"] for row in await self.admin.fetch(_TABLES)}


@asynccontextmanager
async def open_scene(stage: Stage) -> AsyncIterator[Scene]:
    admin = await asyncpg.connect(stage.server.postgres_url)
    bare = await asyncpg.connect(stage.server.postgres_url)
    try:
        scene = Scene(stage, admin, bare)
        await scene.settle()
        with bare_server(scene.bare_port, b"") as scene.bare_pid:
            yield scene
    finally:
        await bare.close()
        await admin.close()
