"""Presence: one minute of a realm in which everybody pings once, and gets what changed since their last ping.

All pings of the minute are sent as fast as they are answered: what counts is the CPU they cost and the bytes they bring.
"""

import asyncio
from collections.abc import Sequence

from bench.http_bytes import request
from bench.load import Load, run_load
from bench.processes import cpu_of
from bench.report import Figure, Report
from bench.stage import Stage, open_stage
from tests.harness.server import User

CONNECTIONS = 64
SAMPLE = 8

_AGE = """
update presence set active_at = active_at - interval '1 minute', connected_at = connected_at - interval '1 minute'
"""
_BATCHES = "select count(distinct update_id) as batches, count(*) as rows from presence"


def measure(*, quick: bool) -> Report:
    sizes = (250, 1_000) if quick else (1_000, 10_000)
    figures: list[Figure] = []
    notes: list[str] = []
    with open_stage() as stage:
        filled = 0
        for size in sizes:
            stage.fill(users=size - filled)
            filled = size
            figures += minute(stage, asyncio.run(stage.people(size)), notes)
    notes.append("CPU of web, postgres, relay and nats together; each row of a minute's writes is one person")
    return Report("bench presence", {"people": " and ".join(map(str, sizes))}, figures, notes)


def minute(stage: Stage, people: Sequence[User], notes: list[str]) -> list[Figure]:
    run_load(Load(stage.port, spread([ping(user, {"ping_only": "true"}) for user in people])))
    known = {row["user_id"]: row["update_id"] for row in asyncio.run(stage.sql("select * from presence"))}
    asyncio.run(stage.sql(_AGE))
    requests = [ping(user, {"last_update_id": str(known[user.user_id])}) for user in people]
    before = cpu_of(stage.pids)
    done = run_load(Load(stage.port, spread(requests)))
    after = cpu_of(stage.pids)
    size = max(map(len, run_load(Load(stage.port, [requests[:SAMPLE]], keep=True)).bodies))
    used = {part: after[part] - before[part] for part in ("web", "postgres", "relay", "nats")}
    row = asyncio.run(stage.sql(_BATCHES))[0]
    notes.append(
        f"{len(people):,} people: {', '.join(f'{part} {cpu:.2f} s' for part, cpu in used.items())}; "
        f"{row['rows']:,} rows in {row['batches']} statements; at most {size / 1024:,.0f} kB each"
    )
    name = f"{len(people):,} people for a minute"
    each = sum(used.values()) * 1e6 / len(people)
    return [
        Figure(name, sum(used.values()), "s of CPU", note=f"{each:,.0f} us for each ping"),
        Figure("all of them at once", done.rate, "/s", note=f"p50 {done.percentile(0.5) * 1000:.0f} ms"),
    ]


def ping(user: User, fields: dict[str, str]) -> bytes:
    return request("POST", "/api/v1/users/me/presence", user, {"status": "active", **fields})


def spread(requests: Sequence[bytes]) -> list[list[bytes]]:
    return [list(requests[start::CONNECTIONS]) for start in range(CONNECTIONS)]
