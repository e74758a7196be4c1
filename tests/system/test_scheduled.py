"""Scheduled messages are sent exactly once, whatever is killed while they are delivered."""

import asyncio
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import asyncpg
import pytest

from tertulia.engines import ChildProcess
from tests.harness.server import OwnServer
from tests.system.faults import crash_postgres

pytestmark = [pytest.mark.system, pytest.mark.slow]

COUNT = int(os.environ.get("TERTULIA_SCHEDULED_COUNT", "400"))
"""2,000 in the long run; the short one shows the same."""
KILLS = 8

_SCHEDULE = """
insert into scheduled_message (realm_id, user_id, channel_id, topic, content, rendered, client, read, due)
select account.realm_id, account.id, $2, 'Due ' || n % 7, 'due ' || n, '', 'test', false,
    now() + make_interval(secs => 1 + 4.0 * n / $3)
from account, generate_series(1, $3::int) as n where account.id = $1
"""


@pytest.fixture
def server(shared_folder: Path) -> Iterator[OwnServer]:
    own = OwnServer.start(shared_folder)
    try:
        yield own
    finally:
        assert own.stop() == 0, own.folder


@pytest.mark.timeout(240)
async def test_whatever_is_killed_each_is_sent_once(server: OwnServer) -> None:
    channel_id = server.channels["general"]
    draw = random.Random(11)
    with ExitStack() as stack:
        workers = [_worker(server, number) for number in (1, 2)]
        for worker in workers:
            worker.start()
            stack.callback(worker.stop, signal.SIGKILL, 10)
        await _run(server, _SCHEDULE, server.members[0].user_id, channel_id, COUNT)
        for _ in range(KILLS):
            await asyncio.sleep(draw.uniform(0.2, 0.9))
            victim = draw.choice(["own", "own", "theirs", "postgres"])
            if victim == "own":
                worker = draw.choice(workers)
                worker.stop(signal.SIGKILL, 10)
                worker.start()
            elif victim == "theirs":
                server.kill("worker")
            else:
                await crash_postgres(server)
        deadline = time.monotonic() + 90
        while left := await _left(server):
            assert time.monotonic() < deadline, f"{left} of {COUNT} were not sent; see {server.folder}"
            await asyncio.sleep(0.2)
    rows = await _run(server, "select content from message where content like 'due %'")
    counts = Counter(row["content"] for row in rows)
    assert counts == Counter(f"due {number}" for number in range(1, COUNT + 1))
    assert not await _run(server, "select from scheduled_message where failed")


def _worker(server: OwnServer, number: int) -> ChildProcess:
    command = [sys.executable, "-m", "tertulia", "worker"]
    env = server.environment(metrics_port=0)
    return ChildProcess(command, server.folder / f"worker{number}.log", env=env)


async def _left(server: OwnServer) -> int:
    try:
        rows = await _run(server, "select count(*) as left from scheduled_message")
    except (OSError, asyncpg.PostgresError):
        return -1  # it is coming back
    return int(rows[0]["left"])


async def _run(server: OwnServer, sql: str, *arguments: object) -> list[asyncpg.Record]:
    connection = await asyncpg.connect(server.postgres_url)
    try:
        found: list[asyncpg.Record] = await connection.fetch(sql, *arguments)
        return found
    finally:
        await connection.close()
