"""Fetching: the 100 newest messages of a channel, of a topic, and of everything received.

The bare engine is pgbench with the very statements of the request, one after the other without a transaction.
"""

import asyncio

from bench.http_bytes import request
from bench.load import Load, run_load
from bench.pgbench import run_pgbench, script
from bench.report import Figure, Report
from bench.stage import bare_postgres, open_stage
from bench.statements import statements_of

CLIENTS = 8
CHANNELS = 20
WINDOW = {"anchor": "newest", "num_before": "100", "num_after": "0"}


def measure(*, quick: bool) -> Report:
    seconds = 2.0 if quick else 10.0
    messages = 20_000 if quick else 200_000
    figures: list[Figure] = []
    notes: list[str] = []
    with open_stage() as stage:
        channels = stage.fill(users=100, channels=CHANNELS, messages=messages)
        asyncio.run(stage.sql("analyze"))
        people = asyncio.run(stage.people(CLIENTS))
        narrow = f'[{{"operator":"channel","operand":{channels[0].stream_id}}}]'
        kinds = {"a channel": WINDOW | {"narrow": narrow}, "everything received": WINDOW}
        found = []
        for kind, fields in kinds.items():
            requests = [request("GET", "/api/v1/messages", user, fields) for user in people]
            one = run_load(Load(stage.port, [requests[:1] * 50], keep=True))
            many = run_load(Load(stage.port, [[each] for each in requests], seconds, warm_up=0.5))
            statements = asyncio.run(statements_of(stage.settings(), requests[0]))
            found.append((kind, one, many, statements))
            notes.append(f"{kind}: {len(one.bodies[0]) / 1024:,.0f} kB each, {len(statements)} statements")
        with bare_postgres(stage) as postgres:
            for kind, one, many, statements in found:
                text, variables = script(statements, begin=None)
                bare = run_pgbench(postgres.url, text, variables, clients=CLIENTS, seconds=seconds)
                alone = run_pgbench(postgres.url, text, variables, clients=1, seconds=seconds / 2)
                spread = f"p50 {many.percentile(0.5) * 1000:.1f} ms"
                figures.append(Figure(f"100 newest of {kind}", many.rate, "/s", bare.rate, note=spread))
                figures.append(Figure("  one alone", one.percentile(0.5) * 1000, "ms", alone.milliseconds))
    return Report("bench fetch", {"clients": CLIENTS, "messages": messages, "seconds": seconds}, figures, notes)
