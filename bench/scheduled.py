"""Scheduled messages: how late they are, when very many are due in the same minute, and all in the same second.

Half of them go to channels, half to people. Several workers share the work; what is measured is the time from when a message is
due until it has been sent and is off the list (committed).
"""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import asyncpg

from bench.processes import cpu_of
from bench.report import Figure, Report
from bench.stage import Stage, open_stage
from tertulia.engines import ChildProcess
from tests.harness.server import Channel

WORKERS = 2
"""Beside the one that the server brings."""
AHEAD_SECONDS = 3
LOOK_SECONDS = 0.02
TARGET_SECONDS = 2.0

_SCHEDULE = """
insert into scheduled_message (realm_id, user_id, channel_id, user_ids, topic, content, rendered, client, read, due)
select account.realm_id, account.id,
    case when n % 2 = 0 then ($2::bigint[])[1 + n / 2 % cardinality($2::bigint[])] end,
    case when n % 2 = 1 then array[account.id] end,
    case when n % 2 = 0 then 'Topic ' || n % 20 else '' end,
    'Message number ' || n || ' of those that are **due**', '', 'bench', false,
    to_timestamp($3) + make_interval(secs => floor($4::float8 * n / $5::int))
from generate_series(0, $5::int - 1) as n
join lateral (select $1::bigint[] as ids) as people on true
join account on account.id = people.ids[1 + n % cardinality(people.ids)]
"""


def measure(*, quick: bool) -> Report:
    count, people, minute = (1_000, 100, 6) if quick else (10_000, 1_000, 60)
    figures: list[Figure] = []
    notes: list[str] = []
    with open_stage() as stage:
        channels = stage.fill(users=people, channels=100, subscribers=20)
        ids = asyncio.run(_open(stage, people, channels))
        with more_workers(stage) as pids:
            for name, seconds in ((f"within {minute} s", minute), ("in one second", 0)):
                figures += asyncio.run(deliver(stage, pids, ids, channels, count, seconds, name, notes))
    parameters = {"messages": f"{count:,}", "workers": WORKERS + 1, "channels": len(channels), "people": people}
    return Report("bench scheduled", parameters, figures, notes)


async def _open(stage: Stage, count: int, channels: Sequence[Channel]) -> list[int]:
    """The people who write: each of them to every channel, which need not be one they are subscribed to."""
    rows = await stage.sql("select id from account where email like 'filled%' order by id limit $1", count)
    assert len(rows) == count
    assert channels
    return [row["id"] for row in rows]


@contextmanager
def more_workers(stage: Stage) -> Iterator[dict[str, int]]:
    """The ids of the processes that matter."""
    command = [sys.executable, "-m", "tertulia", "worker"]
    environment = os.environ | stage.server.environment(metrics_port=0)
    started = []
    try:
        for number in range(WORKERS):
            worker = ChildProcess(command, stage.folder / f"worker{number}.log", env=environment)
            worker.start()
            started.append(worker)
        time.sleep(3)  # they are up
        own = {f"worker {number}": worker.pid for number, worker in enumerate(started, start=1)}
        yield {name: stage.pids[name] for name in ("worker", "postgres", "relay", "nats") if name in stage.pids} | own
    finally:
        for worker in started:
            worker.stop(signal.SIGTERM, 10)


async def deliver(
    stage: Stage,
    pids: dict[str, int],
    people: Sequence[int],
    channels: Sequence[Channel],
    count: int,
    seconds: int,
    name: str,
    notes: list[str],
) -> list[Figure]:
    first = int(time.time()) + AHEAD_SECONDS
    await stage.sql(_SCHEDULE, people, [channel.stream_id for channel in channels], float(first), float(seconds), count)
    before = cpu_of(pids)
    done = await watch(stage, count)
    after = cpu_of(pids)
    due = [first + seconds * number // count for number in range(count)]
    # They are sent in the order in which they are due, save for a few: which one of those makes no difference here.
    late = sorted(at - wanted for at, wanted in zip(done, due, strict=True))
    failed = (await stage.sql("delete from scheduled_message where failed returning id")) or []
    took = done[-1] - first
    used = {part: after[part] - before[part] for part in pids}
    shown = ", ".join(f"{part} {cpu:.2f} s" for part, cpu in used.items())
    notes.append(f"{name}: all sent {took:.1f} s after the first was due, {len(failed)} failed; CPU: {shown}")
    target = f"<= {TARGET_SECONDS:.0f} s"
    return [
        Figure(f"late, {name}: p50", late[len(late) // 2], "s", target=target),
        Figure(f"late, {name}: p99", late[len(late) * 99 // 100], "s", target=target, note=f"most {late[-1]:.2f} s"),
        Figure(f"sent, {name}", count / max(took, 0.001), "/s"),
    ]


async def watch(stage: Stage, count: int) -> list[float]:
    """When each was off the list, in that order; seen every few milliseconds."""
    connection = await asyncpg.connect(stage.server.postgres_url)
    found: list[float] = []
    deadline = time.time() + 300
    try:
        while len(found) < count:
            left = await connection.fetchval("select count(*) from scheduled_message where not failed")
            found += [time.time()] * (count - left - len(found))
            if time.time() > deadline:
                raise TimeoutError(f"{left} were not sent")
            await asyncio.sleep(LOOK_SECONDS)
    finally:
        await connection.close()
    return found
