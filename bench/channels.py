"""Channels at their size: 10,000 in a realm, a user in 1,000 of them who registers, and 10,000 people subscribed at once.

The bare engine of the registration is pgbench with its very statements, in one transaction. That of subscribing is the insertion
of as many rows as it writes, in two statements.
"""

import asyncio
import json
import time

import httpx

from bench.http_bytes import request
from bench.load import Load, run_load
from bench.pgbench import run_pgbench, script
from bench.report import Figure, Report
from bench.stage import Stage, bare_postgres, open_stage
from bench.statements import statements_of
from tests.harness.server import User

AT_ONCE = 500

_BARE_ROWS = """
insert into subscription (user_id, channel_id, color) select unnest($1::bigint[]), $2, '#000000' returning 1
"""
_BARE_STATES = """
insert into read_state (conversation_id, user_id) select $2, unnest($1::bigint[]) returning 1
"""


def measure(*, quick: bool) -> Report:
    channels, own, people = (1_000, 100, 1_000) if quick else (10_000, 1_000, 10_000)
    seconds = 2.0 if quick else 10.0
    with open_stage() as stage:
        stage.fill(users=people)
        maker, [reader] = stage.server.owner, asyncio.run(stage.people(1))  # nobody else may make so many
        names = [f"measured {number:05}" for number in range(channels)]
        _join(stage, maker, names)
        _join(stage, reader, names[: own * 10 : 10])
        asyncio.run(stage.sql("analyze"))
        fields = {"fetch_event_types": '["subscription"]', "event_types": '["subscription"]'}
        raw = request("POST", "/api/v1/register", reader, fields)
        one = run_load(Load(stage.port, [[raw] * 10], keep=True))
        partly = request("POST", "/api/v1/register", reader, {**fields, "include_subscribers": "partial"})
        partial = run_load(Load(stage.port, [[partly] * 5], keep=True))
        statements = asyncio.run(statements_of(stage.settings(), raw))
        text, variables = script(statements, begin="begin isolation level repeatable read read only")
        joined, bare_join = asyncio.run(_join_many(stage, maker, names[1], people))
        with bare_postgres(stage) as postgres:
            bare = run_pgbench(postgres.url, text, variables, clients=1, seconds=seconds)
    figures = [
        Figure("registration", one.percentile(0.5) * 1000, "ms", bare.milliseconds),
        Figure("the same, subscribers partly", partial.percentile(0.5) * 1000, "ms", bare.milliseconds),
        Figure(f"{people:,} people subscribed", joined * 1000, "ms", bare_join * 1000),
    ]
    size = f"registration: {len(one.bodies[0]) / 1024:,.0f} kB, {len(statements)} statements"
    return Report("bench channels", {"channels": channels, "own": own, "people": people}, figures, [size])


def _join(stage: Stage, user: User, names: list[str]) -> None:
    with stage.server.client(user) as client:
        for start in range(0, len(names), AT_ONCE):
            wanted = json.dumps([{"name": name} for name in names[start : start + AT_ONCE]])
            client.post("users/me/subscriptions", data={"subscriptions": wanted}).raise_for_status()


async def _join_many(stage: Stage, user: User, name: str, people: int) -> tuple[float, float]:
    """Seconds of the call, and of the bare rows."""
    rows = await stage.sql("select id from account where email like 'filled%' order by id limit $1", people)
    ids = [row["id"] for row in rows]
    async with stage.server.async_client(user) as client:
        data = {"subscriptions": json.dumps([{"name": name}]), "principals": json.dumps(ids)}
        began = time.perf_counter()
        reply = await client.post("users/me/subscriptions", data=data, timeout=httpx.Timeout(60))
        took = time.perf_counter() - began
        reply.raise_for_status()
    [[other]] = await stage.sql("select id from channel where name = 'measured 00002'")
    await stage.sql("delete from subscription where channel_id = $1", other)
    await stage.sql("delete from read_state where conversation_id = $1", other)
    began = time.perf_counter()
    for sql in (_BARE_ROWS, _BARE_STATES):
        await stage.sql(sql, ids, other)
    return took, time.perf_counter() - began
