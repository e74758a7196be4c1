"""Registration: a realm of 1,000 users, a user with 100 channels and 1,000 unread messages, all of the state.

The bare engine is pgbench with the very statements of a registration, in one transaction.
"""

import asyncio

from bench.http_bytes import request
from bench.load import Load, run_load
from bench.pgbench import run_pgbench, script
from bench.processes import cpu_of
from bench.report import Figure, Report
from bench.stage import bare_postgres, open_stage
from bench.statements import statements_of

CLIENTS = 8
CHANNELS = 100
UNREAD_EACH = 10

_MARK_UNREAD = """
update read_state set read = read - int8multirange(int8range(last_seq - $1 + 1, last_seq + 1))
from conversation where conversation.id = conversation_id and user_id = any($2::bigint[]) and last_seq >= $1
"""


def measure(*, quick: bool) -> Report:
    seconds = 3.0 if quick else 15.0
    users = 200 if quick else 1_000
    with open_stage() as stage:
        stage.fill(users=users, channels=CHANNELS, messages=CHANNELS * 100)
        people = asyncio.run(stage.people(CLIENTS))
        asyncio.run(stage.sql(_MARK_UNREAD, UNREAD_EACH, [user.user_id for user in people]))
        asyncio.run(stage.sql("analyze"))
        requests = [request("POST", "/api/v1/register", user, {"apply_markdown": "true"}) for user in people]
        one = run_load(Load(stage.port, [requests[:1] * 20], keep=True))
        before = cpu_of(stage.pids)
        many = run_load(Load(stage.port, [[each] for each in requests], seconds, warm_up=0.5))
        after = cpu_of(stage.pids)
        statements = asyncio.run(statements_of(stage.settings(), requests[0]))
        text, variables = script(statements, begin="begin isolation level repeatable read read only")
        with bare_postgres(stage) as postgres:
            bare = run_pgbench(postgres.url, text, variables, clients=CLIENTS, seconds=seconds)
            alone = run_pgbench(postgres.url, text, variables, clients=1, seconds=seconds / 3)
    used = {name: (after[name] - before[name]) / (seconds + 0.5) for name in ("web", "postgres", "nats")}
    cpu = ", ".join(f"{name} {part:.2f}" for name, part in used.items())
    figures = [
        Figure("registrations", many.rate, "/s", bare.rate, note=f"p50 {many.percentile(0.5) * 1000:.0f} ms"),
        Figure("time of one alone", one.percentile(0.5) * 1000, "ms", alone.milliseconds),
    ]
    parameters = {"clients": CLIENTS, "users": users, "channels": CHANNELS, "unread": CHANNELS * UNREAD_EACH}
    size = f"{len(one.bodies[0]) / 1024:,.0f} kB each; {len(statements)} statements; cores used: {cpu}"
    return Report("bench register", parameters, figures, [size, f"seconds: {seconds:g}"])
