"""Typing signals: how many a second, directly and to a channel of 50, and what they ask of the database.

There is no bare engine to compare with: what the established server does on two cores is in the notes.
"""

import asyncio

from bench.http_bytes import request
from bench.load import Load, run_load
from bench.processes import cpu_of
from bench.report import Figure, Report
from bench.stage import open_stage

CLIENTS = 64
SUBSCRIBERS = 50

# Of the keys only the time of their last use is written, once in a while.
_WRITES = """
select coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::bigint as rows
from pg_stat_user_tables where relname not in ('api_key', 'relay_checkpoint')
"""


def measure(*, quick: bool) -> Report:
    seconds = 3.0 if quick else 15.0
    with open_stage() as stage:
        [channel] = stage.fill(users=SUBSCRIBERS, channels=1)
        people = asyncio.run(stage.people(CLIENTS // 2))
        start = {"op": "start"}
        direct = [
            request("POST", "/api/v1/typing", user, start | {"to": f"[{people[index - 1].user_id}]"})
            for index, user in enumerate(people)
        ]
        place = {"type": "channel", "stream_id": str(channel.stream_id), "topic": "Plans"}
        spoken = [request("POST", "/api/v1/typing", user, start | place) for user in people]
        figures = []
        notes = []
        for name, requests in (("direct", direct), (f"to a channel of {SUBSCRIBERS}", spoken)):
            written = asyncio.run(stage.sql(_WRITES))[0]["rows"]
            before = cpu_of(stage.pids)
            done = run_load(Load(stage.port, [[each] for each in requests * 2], seconds, warm_up=0.5))
            after = cpu_of(stage.pids)
            rows = asyncio.run(stage.sql(_WRITES))[0]["rows"] - written
            used = {
                part: (after[part] - before[part]) / (seconds + 0.5) for part in ("web", "postgres", "relay", "nats")
            }
            cpu = ", ".join(f"{part} {cores:.2f}" for part, cores in used.items())
            figures.append(Figure(name, done.rate, "/s", note=f"p50 {done.percentile(0.5) * 1000:.0f} ms"))
            notes.append(f"{name}: cores used: {cpu}; rows written: {rows}")
    notes.append("established server on 2 cores: 430/s direct, 137/s to a channel")
    return Report("bench typing", {"clients": CLIENTS, "seconds": seconds}, figures, notes)
