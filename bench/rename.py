"""Renaming a topic of a million messages; moving a hundred messages to another channel.

The bare engine is one update of the topic's row by pgbench.
"""

import asyncio
import statistics
import time

import httpx

from bench.pgbench import Statement, run_pgbench, script
from bench.report import Figure, Report
from bench.stage import Stage, bare_postgres, open_stage
from tests.harness.server import Channel, User

RENAMES = 20
MOVES = 10
MOVED = 100
SUBSCRIBERS = 1000

_FILL = """
with place as (
    insert into topic (conversation_id, name, name_key, last_seq)
    select id, $2, $2, last_seq + $4 from conversation where id = $1 returning id, conversation_id
), numbered as (
    update conversation set last_seq = last_seq + $4 where id = $1 returning realm_id, last_seq - $4 as last_seq
)
insert into message (realm_id, conversation_id, seq, topic_id, sender_id, client, content, rendered)
select realm_id, place.conversation_id, last_seq + number, place.id, $3, 'bench', 'word ' || number, '<p>word</p>'
from place, numbered, generate_series(1, $4::bigint) as number
"""


def measure(*, quick: bool) -> Report:
    messages = 20_000 if quick else 1_000_000
    with open_stage() as stage:
        stage.fill(users=SUBSCRIBERS, channels=2, messages=200, subscribers=SUBSCRIBERS)
        source, target = stage.fill(channels=2, subscribers=SUBSCRIBERS)
        [user] = asyncio.run(stage.people(1))
        asyncio.run(_fill(stage, source, user, "large", messages))
        for number in range(MOVES):
            asyncio.run(_fill(stage, source, user, f"small {number}", MOVED))
        asyncio.run(stage.sql("analyze"))
        renames = _renames(stage, source, user)
        moves = _moves(stage, source, target, user)
        sql = """
        update topic set name = 'large ' || clock_timestamp(), name_key = 'large ' || clock_timestamp()
        where name like 'large%'
        """
        with bare_postgres(stage) as postgres:
            text, variables = script([Statement(sql, ())])
            bare = run_pgbench(postgres.url, text, variables, clients=1, seconds=2)
    figures = [
        Figure(f"rename a topic of {messages:,} messages, p50", renames, "ms", bare.milliseconds, target="50"),
        Figure(f"move {MOVED} messages to another channel, p50", moves, "ms"),
    ]
    return Report("bench rename", {"messages": messages, "subscribers": SUBSCRIBERS}, figures)


async def _fill(stage: Stage, channel: Channel, user: User, topic: str, messages: int) -> None:
    await stage.sql(_FILL, channel.stream_id, topic, user.user_id, messages)


def _renames(stage: Stage, channel: Channel, user: User) -> float:
    [(newest,)] = asyncio.run(_newest(stage, channel, "large"))
    return _timed(
        stage,
        user,
        [(newest, {"topic": f"large {number}", "propagate_mode": "change_all"}) for number in range(RENAMES)],
    )


def _moves(stage: Stage, source: Channel, target: Channel, user: User) -> float:
    asked = []
    for number in range(MOVES):
        [(newest,)] = asyncio.run(_newest(stage, source, f"small {number}"))
        asked.append((newest, {"stream_id": str(target.stream_id), "propagate_mode": "change_all"}))
    return _timed(stage, user, asked)


async def _newest(stage: Stage, channel: Channel, topic: str) -> list[tuple[int]]:
    sql = """
    select max(message.id) from message join topic on topic.id = message.topic_id
    where topic.conversation_id = $1 and topic.name = $2
    """
    return [tuple(row) for row in await stage.sql(sql, channel.stream_id, topic)]


def _timed(stage: Stage, user: User, asked: list[tuple[int, dict[str, str]]]) -> float:
    """Milliseconds of the middle one."""
    taken = []
    with httpx.Client(
        base_url=stage.server.url, auth=httpx.BasicAuth(user.email, user.api_key), trust_env=False, timeout=60
    ) as client:
        for message_id, fields in asked:
            quiet = {"send_notification_to_new_thread": "false"}
            begun = time.perf_counter()
            client.patch(f"/api/v1/messages/{message_id}", data=fields | quiet).raise_for_status()
            taken.append((time.perf_counter() - begun) * 1000)
    return statistics.median(taken)
