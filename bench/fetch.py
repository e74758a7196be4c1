"""Fetching: the 100 newest messages of a channel, a topic, everything received, one's mentions, and a search.

The bare engine is pgbench with the very statements of the request, one after the other without a transaction.
"""

import asyncio
import json
from typing import NamedTuple

from bench.http_bytes import request
from bench.load import Load, Loaded, run_load
from bench.pgbench import Statement, run_pgbench, script
from bench.report import Figure, Report
from bench.stage import bare_postgres, open_stage
from bench.statements import statements_of
from tertulia.kernel.settings import Settings
from tests.harness.server import User

CLIENTS = 8
CHANNELS = 300
WINDOW = {"anchor": "newest", "num_before": "100", "num_after": "0"}


class Case(NamedTuple):
    """A kind of fetch, measured at the server."""

    kind: str
    alone: Loaded
    many: Loaded
    statements: list[Statement]


def measure(*, quick: bool) -> Report:
    seconds = 2.0 if quick else 10.0
    messages = 30_000 if quick else 5_000_000
    with open_stage() as stage:
        channels = stage.fill(users=100, channels=CHANNELS, messages=messages)
        asyncio.run(stage.sql("analyze"))
        people = asyncio.run(stage.people(CLIENTS))
        topic = asyncio.run(stage.sql("select name from topic where conversation_id = $1", channels[0].stream_id))
        narrows = narrows_of(channels[0].stream_id, topic[0]["name"])
        cases = [ask(stage.port, stage.settings(), people, kind, narrow, seconds) for kind, narrow in narrows.items()]
        with bare_postgres(stage) as postgres:
            figures = [figure for case in cases for figure in compare(postgres.url, case, seconds)]
    notes = [
        f"{case.kind}: {len(case.alone.bodies[0]) / 1024:,.0f} kB, {len(case.statements)} statements" for case in cases
    ]
    about = {"clients": CLIENTS, "channels": CHANNELS, "messages": messages, "seconds": seconds}
    return Report("bench fetch", about, figures, notes)


def narrows_of(channel_id: int, topic: str) -> dict[str, list[object]]:
    """What is measured."""
    channel = {"operator": "channel", "operand": channel_id}
    return {
        "a channel": [channel],
        "a topic": [channel, ["topic", topic]],
        "everything received": [],
        "one's mentions": [["is", "mentioned"]],
        "a search for a common word": [["search", "coffee"]],
        "a search for two in a channel": [channel, ["search", "coffee budget"]],
    }


def ask(port: int, settings: Settings, people: list[User], kind: str, narrow: object, seconds: float) -> Case:
    """Measure the server: one request after the other, then several at a time."""
    fields = WINDOW | {"narrow": json.dumps(narrow)}
    requests = [request("GET", "/api/v1/messages", user, fields) for user in people]
    alone = run_load(Load(port, [requests[:1] * 50], keep=True))
    many = run_load(Load(port, [[each] for each in requests], seconds, warm_up=0.5))
    return Case(kind, alone, many, asyncio.run(statements_of(settings, requests[0])))


def compare(postgres_url: str, case: Case, seconds: float) -> list[Figure]:
    """The same statements at the bare engine."""
    text, variables = script(case.statements, begin=None)
    bare = run_pgbench(postgres_url, text, variables, clients=CLIENTS, seconds=seconds)
    alone = run_pgbench(postgres_url, text, variables, clients=1, seconds=seconds / 2)
    spread = f"p50 {case.many.percentile(0.5) * 1000:.1f} ms"
    return [
        Figure(f"100 newest of {case.kind}", case.many.rate, "/s", bare.rate, note=spread),
        Figure("  one alone", case.alone.percentile(0.5) * 1000, "ms", alone.milliseconds),
    ]
