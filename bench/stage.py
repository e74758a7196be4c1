"""A server of its own for a measurement: started in a temporary folder, filled, and stopped again.

`bare_postgres` starts the same database without any of our processes, for the bare engine's figure.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import asyncpg

from bench.load import ROOT
from tertulia.engines import Postgres, find_postgres
from tertulia.kernel.ids import digest_of_key, new_api_key
from tertulia.kernel.settings import Settings, load_settings
from tests.harness.server import MEMBER, Channel, OwnServer, User


class Stage:
    """A running server, and ways to fill it."""

    def __init__(self, folder: Path, **settings: object) -> None:
        self.folder = folder
        # Rate limits are counted as always; bin/bench sets rates that are never reached.
        own = {"rate_limits": "true", **settings}
        # Not from a copy of what was made on another day, and without what its first start left in memory.
        self.server = OwnServer.start(
            folder, env={f"TERTULIA_{name.upper()}": str(value) for name, value in own.items()}, from_nothing=True
        )

    @property
    def port(self) -> int:
        return int(self.server.url.rpartition(":")[2])

    @property
    def pids(self) -> dict[str, int]:
        return self.server.state.pids

    def fill(
        self, *, users: int = 0, channels: int = 0, messages: int = 0, subscribers: int | None = None
    ) -> list[Channel]:
        command = [sys.executable, "-m", "tertulia", "dev", "fill", "--json", "--data", str(self.folder / "data")]
        command += ["--users", str(users), "--channels", str(channels), "--messages", str(messages)]
        if subscribers is not None:
            command += ["--subscribers", str(subscribers)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=ROOT, stderr=subprocess.DEVNULL)
        return [Channel(**channel) for channel in json.loads(done.stdout)["channels"]]

    async def people(self, count: int) -> list[User]:
        """Members with keys, the same each time: those that `fill` added, in order."""
        connection = await asyncpg.connect(self.server.postgres_url)
        try:
            sql = "select id, email from account where email like 'filled%' order by id limit $1"
            rows = await connection.fetch(sql, count)
            people = [User(row["id"], row["email"], None, new_api_key(), MEMBER) for row in rows]
            records = [(user.user_id, digest_of_key(user.api_key), "bench") for user in people]
            columns = ["user_id", "digest", "label"]
            await connection.copy_records_to_table("api_key", records=records, columns=columns)
        finally:
            await connection.close()
        if len(people) < count:
            raise ValueError(f"only {len(people)} people were filled in")
        return people

    async def sql(self, statement: str, *arguments: object) -> Sequence[Any]:
        connection = await asyncpg.connect(self.server.postgres_url)
        try:
            return await connection.fetch(statement, *arguments)
        finally:
            await connection.close()

    def settings(self) -> Settings:
        """Of one more process on the same engines."""
        return load_settings(env=self.server.environment(external_host=f"localhost:{self.port}"))


@contextmanager
def open_stage(**settings: object) -> Iterator[Stage]:
    """A new server; gone afterwards."""
    os.environ.setdefault("TERTULIA_POSTGRES_BIN", "wheel")
    folder = Path(mkdtemp(prefix="tertulia-bench-"))
    try:
        stage = Stage(folder, **settings)
        try:
            yield stage
        finally:
            if stage.server.process.is_alive():
                stage.server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def bare_postgres(stage: Stage) -> Iterator[Postgres]:
    """The stage's database alone: the server is stopped, only PostgreSQL starts again."""
    stage.server.stop()
    with Postgres(find_postgres(load_settings()), stage.folder / "data" / "postgres") as postgres:
        yield postgres
