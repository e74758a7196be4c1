"""GET /users with 10,000 users: whole, compressed, unchanged, and right after a change.

The bare engine is pgbench that selects the same columns of the same rows, and makes nothing of them.
"""

import asyncio
import time

import asyncpg

from bench.http_bytes import request
from bench.load import Load, run_load
from bench.pgbench import run_pgbench
from bench.report import Figure, Report
from bench.stage import Stage, bare_postgres, open_stage
from tests.harness.server import User

CLIENTS = 4
PATH = "/api/v1/users"
BARE = """
select id, email, full_name, role, bot_type, bot_owner_id, is_active, is_imported_stub, date_joined, timezone,
    avatar_version, settings from account where realm_id = 1 order by id;
"""
CHANGE = "update account set avatar_version = avatar_version + 1 where id = $1"


def measure(*, quick: bool) -> Report:
    seconds, users = (2.0, 1000) if quick else (10.0, 10_000)
    with open_stage() as stage:
        stage.fill(users=users)
        asyncio.run(stage.sql("analyze"))
        people = asyncio.run(stage.people(CLIENTS))
        whole, packed, tag = first_look(stage, people[0])
        headers = {"whole": "", "gzip": "Accept-Encoding: gzip\r\n", "unchanged (304)": f"If-None-Match: {tag}\r\n"}
        loads = {}
        for form, header in headers.items():
            requests = [[with_header(request("GET", PATH, user), header)] for user in people]
            loads[form] = run_load(Load(stage.port, requests, seconds, warm_up=1.0))
        changed = after_changes(stage, people[0], 10 if quick else 50)
        with bare_postgres(stage) as postgres:
            bare = run_pgbench(postgres.url, BARE, {}, clients=CLIENTS, seconds=seconds)
            alone = run_pgbench(postgres.url, BARE, {}, clients=1, seconds=seconds / 2)
    figures = []
    for form, load in loads.items():
        spread = f"p50 {load.percentile(0.5) * 1000:.1f} ms, p99 {load.percentile(0.99) * 1000:.1f} ms"
        figures.append(Figure(form, load.rate, "/s", bare.rate, "100 /s", spread))
    figures.append(Figure("right after a change, alone", changed, "ms", alone.milliseconds))
    notes = [f"{whole:,} bytes whole, {packed:,} compressed"]
    return Report("bench users", {"users": users, "clients": CLIENTS, "seconds": seconds}, figures, notes)


def first_look(stage: Stage, user: User) -> tuple[int, int, str]:
    """The size of the answer, its size when compressed, and its tag."""
    with stage.server.client(user) as client:
        whole = client.get("users", headers={"Accept-Encoding": "identity"})
        with client.stream("GET", "users", headers={"Accept-Encoding": "gzip"}) as packed:
            size = sum(map(len, packed.iter_raw()))
    return len(whole.content), size, whole.headers["etag"]


def after_changes(stage: Stage, user: User, times: int) -> float:
    """Milliseconds of the first answer after a change, which is made anew: the median."""

    async def run() -> list[float]:
        took = []
        connection = await asyncpg.connect(stage.server.postgres_url)
        async with stage.server.async_client(user) as client:
            for _ in range(times):
                await connection.execute(CHANGE, user.user_id)
                started = time.perf_counter()
                reply = await client.get("users", headers={"Accept-Encoding": "identity"})
                took.append(time.perf_counter() - started)
                assert reply.status_code == 200
        await connection.close()
        return sorted(took)

    took = asyncio.run(run())
    return took[len(took) // 2] * 1000


def with_header(raw: bytes, header: str) -> bytes:
    line, _, rest = raw.partition(b"\r\n")
    return line + b"\r\n" + header.encode() + rest
