"""The audit log with 1,000,000 entries: how long an owner waits for a page, whatever they filter by.

Few people did most of it, and most of it are logins, as it is in life. Beside what anybody looks for there are searches that find
nothing among very much: somebody who did 400,000 things, but none of that kind, or none to that person. The bare engine is the
newest page, straight from its index.
"""

import asyncio
import time
from collections.abc import Mapping

from bench.pgbench import run_pgbench
from bench.report import Figure, Report
from bench.stage import Stage, open_stage
from tests.harness.server import User

TARGET = "100 ms"
DAY = 86_400
BUSY, TARGETED, SELDOM = 1_000_001, 1_000_002, 1_000_777
"""Who did 40 % of it, whom 30 % of it was done to by others, and one of a thousand others."""
FILL = """
insert into audit_entry (realm_id, created, act, actor_id, key_id, target_kind, target_id, changes)
select $1, now() - interval '300 days' * (1 - n / $2::float8),
    case when n % 10000 = 7 then 'user.role_changed' when n % 10 < 6 then 'login.succeeded'
        when n % 10 < 8 then 'login.failed' else 'channel.others_subscribed' end,
    case when n % 10 < 4 then 1000001 else 1000003 + n * 7919 % 1000 end, n,
    case when n % 5000 = 3 then 'group' when n % 10 > 7 then 'channel' else 'user' end,
    case when n % 10 in (5, 6, 7) then 1000002 else 1000003 + n * 104729 % 1000 end, '{"reason": [null, 1]}'
from generate_series(1, $2::bigint) as n
"""
DETAILS = """
insert into audit_detail (entry_id, subject_id, realm_id, address, agent, texts)
select id, actor_id, realm_id, '198.51.100.7', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', '{}'
from audit_entry where realm_id = $1 and actor_id > 1000000
"""
NEWEST = "select * from audit_entry where realm_id = 1 order by id desc limit 100;"


def measure(*, quick: bool) -> Report:
    count, times = (20_000, 5) if quick else (1_000_000, 30)
    with open_stage() as stage:
        realm_id, middle, filled = asyncio.run(fill(stage, count))
        owner = stage.server.owner
        figures = [ask(stage, owner, name, query, times, path) for name, path, query in searches(time.time(), middle)]
        bare = run_pgbench(stage.server.postgres_url, NEWEST, {}, clients=1, seconds=1.0)
    figures[0].bare = bare.milliseconds
    notes = [f"filled in {filled:.0f} s; realm {realm_id}; each line: the slowest of {times} requests, a page of 100"]
    return Report("bench audit", {"entries": f"{count:,}"}, figures, notes)


async def fill(stage: Stage, count: int) -> tuple[int, int, float]:
    started = time.perf_counter()
    [(realm_id,)] = await stage.sql("select id from realm where subdomain = ''")
    for statement, arguments in ((FILL, (realm_id, count)), (DETAILS, (realm_id,)), ("analyze", ())):
        await stage.sql(statement, *arguments)
    [(middle,)] = await stage.sql("select max(id) - $1 from audit_entry", count // 2)
    return realm_id, middle, time.perf_counter() - started


def searches(now: float, middle: int) -> list[tuple[str, str, Mapping[str, object]]]:
    log, month_ago = "audit_log", now - 30 * DAY
    to = {"target_type": "user", "target_id": TARGETED}
    return [
        ("the newest", log, {}),
        ("from the middle", log, {"before": middle}),
        ("one person's", log, {"actor_id": SELDOM}),
        ("of who did most", log, {"actor_id": BUSY}),
        ("one act", log, {"act": "login.failed"}),
        ("a rare act", log, {"act": "user.role_changed"}),
        ("a category", log, {"act": "user"}),
        ("an act that never was", log, {"act": "factor.removed"}),
        ("to one person", log, to),
        ("an hour in the middle", log, {"since": month_ago, "until": month_ago + 3600}),
        ("a rare act in a month", log, {"since": month_ago, "act": "user.role_changed"}),
        ("most active, never that act", log, {"actor_id": BUSY, "act": "factor.removed"}),
        ("most active, never to them", log, {"actor_id": BUSY, **to, "act": "login.failed"}),
        ("most active, to one", log, {"actor_id": BUSY, **to}),
        ("1,000 lines for a collector", "audit_log/stream", {"after": middle, "limit": 1000}),
    ]


def ask(stage: Stage, owner: User, name: str, query: Mapping[str, object], times: int, path: str) -> Figure:
    took, found = [], 0
    with stage.server.client(owner) as client:
        for _ in range(times + 1):
            started = time.perf_counter()
            reply = client.get(path, params={key: str(value) for key, value in query.items()})
            took.append(time.perf_counter() - started)
            assert reply.status_code == 200, reply.text
            found = len(reply.json()["entries"]) if path == "audit_log" else len(reply.text.splitlines())
    took = sorted(took[1:])  # the first one is parsed and planned, and reads from disk
    spread = f"p50 {took[len(took) // 2] * 1000:.1f} ms, {found} found"
    return Figure(name, took[-1] * 1000, "ms", None, TARGET, spread)
