"""50,000 unread messages: a registration that lists them, and marking them read, in many channels and in one topic.

Each request is made alone; the medians are shown. The bare engine's figure of the registration is pgbench with the very
statements of it.
"""

import asyncio

from bench.http_bytes import request
from bench.load import Load, run_load
from bench.pgbench import run_pgbench, script
from bench.report import Figure, Report
from bench.stage import Stage, bare_postgres, open_stage
from bench.statements import statements_of
from tests.harness.server import User

CHANNELS = 300
TARGET = "under 200 ms"

_UNREAD = """
update read_state set history = '{[1,)}', read = int8multirange(int8range(1, last_seq - $1 + 1))
from conversation where conversation.id = conversation_id and user_id = $2 and conversation_id = any($3::bigint[])
"""
_ALL_READ = """
update read_state set read = int8multirange(int8range(1, last_seq + 1))
from conversation where conversation.id = conversation_id and user_id = $1
"""
_ONE_TOPIC = """
update message set topic_id = (select min(id) from topic where conversation_id = $1) where conversation_id = $1
"""
_NEWEST = """
select id from message where conversation_id = any($1::bigint[]) and seq > (
    select last_seq - $2 from conversation where conversation.id = conversation_id
)
"""


def measure(*, quick: bool) -> Report:
    rounds, total = (3, 3_000) if quick else (9, 50_000)
    each = total // CHANNELS
    with open_stage() as stage:
        many = [channel.stream_id for channel in stage.fill(users=50, channels=CHANNELS, messages=CHANNELS * each * 2)]
        [large] = [channel.stream_id for channel in stage.fill(channels=1, messages=total * 2)]
        [user] = asyncio.run(stage.people(1))
        asyncio.run(stage.sql(_ONE_TOPIC, large))
        asyncio.run(stage.sql("vacuum analyze"))
        places = {f"in {CHANNELS} channels": (many, each), "in one topic": ([large], total)}
        [(topic,)] = asyncio.run(
            stage.sql("select name from topic where conversation_id = $1 order by id limit 1", large)
        )
        whole = {"stream_id": str(large)}
        figures = []
        for where, (channels, unread) in places.items():
            rows = asyncio.run(stage.sql(_NEWEST, channels, unread))
            ids = "[" + ",".join(str(row["id"]) for row in rows) + "]"
            flags = {"messages": ids, "op": "add", "flag": "read"}
            asks = {
                "POST /messages/flags": request("POST", "/api/v1/messages/flags", user, flags),
                "POST /mark_all_as_read": request("POST", "/api/v1/mark_all_as_read", user),
            }
            if channels == [large]:
                named = whole | {"topic_name": topic}
                asks["POST /mark_topic_as_read"] = request("POST", "/api/v1/mark_topic_as_read", user, named)
                asks["POST /mark_stream_as_read"] = request("POST", "/api/v1/mark_stream_as_read", user, whole)
            for name, ask in asks.items():
                took = _alone(stage, user, ask, channels, unread, rounds)
                figures.append(Figure(f"{name}, {where}", took * 1000, "ms", target=TARGET))
        registrations, statements = [], []
        for channels, unread in places.values():
            _mark_unread(stage, user, channels, unread)
            ask = request("POST", "/api/v1/register", user)
            registrations.append(run_load(Load(stage.port, [[ask] * rounds], keep=True)))
            statements.append(asyncio.run(statements_of(stage.settings(), ask)))
        with bare_postgres(stage) as postgres:
            text, variables = script(statements[-1], begin="begin isolation level repeatable read read only")
            bare = run_pgbench(postgres.url, text, variables, clients=1, seconds=2 if quick else 8)
    for where, one in zip(places, registrations, strict=True):
        size = f"{len(one.bodies[0]) / 1024:,.0f} kB"
        known = bare.milliseconds if where == "in one topic" else None
        figures.append(Figure(f"POST /register, {where}", one.percentile(0.5) * 1000, "ms", known, note=size))
    return Report("bench unread", {"unread": total, "rounds": rounds}, figures)


def _alone(stage: Stage, user: User, ask: bytes, channels: list[int], unread: int, rounds: int) -> float:
    """The median of a request that finds the messages unread each time."""
    times = []
    for _ in range(rounds):
        _mark_unread(stage, user, channels, unread)
        times.append(run_load(Load(stage.port, [[ask]])).percentile(0.5))
    return sorted(times)[len(times) // 2]


def _mark_unread(stage: Stage, user: User, channels: list[int], unread: int) -> None:
    asyncio.run(stage.sql(_ALL_READ, user.user_id))
    asyncio.run(stage.sql(_UNREAD, unread, user.user_id, channels))
