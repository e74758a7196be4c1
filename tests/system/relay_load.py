"""Writers that emit events as the server does, and the proof that each committed event was stored once, in order.

Each transaction also writes its events' names into a table: a commit whose answer was lost is known from there.
"""

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import msgspec
import nats.errors

from tertulia.events.log.jetstream import StreamUnavailable
from tertulia.events.log.stream import Stored
from tests.system.relay_site import PATIENCE_SECONDS, SHARDS, Site, database, eventually

UNREACHABLE = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
WRITER = "writer of the load"
EMIT = """
with named as (insert into sent (name) select unnest($1::text[]) returning name)
select pg_logical_emit_message(
    true, given.subject, pg_current_xact_id()::text || ' ' || json_build_object('name', given.name)::text
) from unnest($2::text[], $1::text[]) as given (subject, name)
"""


class Load:
    def __init__(self, site: Site, writers: int) -> None:
        self.site = site
        self.committed = 0
        self._numbers = [itertools.count() for _ in range(writers)]
        self._tasks: list[asyncio.Task[None]] = []

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with database(self.site) as connection:
            await connection.execute("create table if not exists sent (name text primary key)")
        self._tasks = [asyncio.create_task(self._write(number)) for number in range(len(self._numbers))]
        try:
            yield
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await self._backends_gone()

    async def _backends_gone(self) -> None:
        """A statement whose writer hung up is still carried out, and may be committed a moment later."""
        sql = (
            "select exists (select from pg_stat_activity where datname = current_database() and application_name = $1)"
        )

        async def gone() -> bool:
            async with database(self.site) as connection:
                return not await connection.fetchval(sql, WRITER)

        await eventually(gone)

    async def wait_for(self, more: int, seconds: float = PATIENCE_SECONDS) -> None:
        """Until that many more transactions were committed."""
        target = self.committed + more

        async def reached() -> bool:
            for task in self._tasks:
                if task.done():
                    raise RuntimeError("a writer failed") from task.exception()
            return self.committed >= target

        await eventually(reached, seconds)

    async def _write(self, writer: int) -> None:
        while True:
            try:
                async with database(self.site) as connection:
                    await connection.execute(f"set application_name = '{WRITER}'")
                    await self._write_on(connection, writer, self._numbers[writer])
            except UNREACHABLE:
                await asyncio.sleep(0.05)

    async def _write_on(self, connection: Any, writer: int, numbers: Iterator[int]) -> None:
        while True:
            realms = [random.randrange(12) for _ in range(random.choice((1, 1, 1, 2, 5)))]
            names = [f"{writer:02d}-{next(numbers):07d}" for _ in realms]
            await connection.execute(EMIT, names, [f"ev.{realm % SHARDS}.{realm}" for realm in realms])
            self.committed += 1
            await asyncio.sleep(0.002)

    async def names(self) -> set[str]:
        async with database(self.site) as connection:
            rows = await connection.fetch("select name from sent")
        return {row["name"] for row in rows}

    async def check(self, seconds: float = PATIENCE_SECONDS, transient: int = 0) -> dict[int, list[Stored]]:
        """Everything committed was stored, once, each writer's events of a realm in the order they were written."""
        names = await self.names()

        async def complete() -> bool:
            try:
                return await self.site.count() >= len(names) + transient
            except (StreamUnavailable, OSError, nats.errors.Error):
                return False

        await eventually(complete, seconds)
        await asyncio.sleep(0.3)
        stored = await self.site.stored()
        found = [name_of(one) for events in stored.values() for one in events if one.xid is not None]
        doubled = [name for name, count in Counter(found).items() if count > 1]
        assert not doubled
        assert set(found) == names
        check_writers_order(stored)
        return stored


def name_of(stored: Stored) -> str:
    name = msgspec.json.decode(stored.data)["name"]
    assert isinstance(name, str)
    return name


def check_writers_order(stored: dict[int, list[Stored]]) -> None:
    for events in stored.values():
        last: dict[str, str] = {}
        for one in events:
            if one.xid is None:
                continue
            writer, _, number = name_of(one).partition("-")
            assert last.get(writer, "") < number
            last[writer] = number
        running = [one.xmax for one in events]
        assert running == sorted(running)
        assert all(one.xid is None or one.xid <= one.xmax for one in events)
