"""One hot channel, where 64 people write as fast as they are answered and thousands listen; then as many writers in 1,000
channels with ten listeners each. Both for minutes, so that what grows with time is seen: waiting, memory, dead rows.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import msgspec

from bench.herd import herd_of
from bench.herd_clients import HerdClients
from bench.http_bytes import request
from bench.load import Load, run_load
from bench.processes import cpu_of, rss_bytes
from bench.report import Figure, Report
from bench.send import CLIENTS, send_requests
from bench.stage import Stage, open_stage
from tests.harness.server import Channel, User

LISTENERS, MINUTES, MINUTE = 5_000, 10, 60.0
CHANNELS, LISTENERS_EACH = 1_000, 10
PATIENCE = 300.0

_TABLES = """
select relname as name, pg_total_relation_size(relid) as bytes, n_dead_tup as dead, n_live_tup as living,
    autovacuum_count as vacuumed
from pg_stat_user_tables where relname in ('message', 'conversation', 'topic', 'read_state') order by relname
"""


class Minute(msgspec.Struct):
    """Of the ten."""

    rate: float
    p50: float
    p99: float
    heard: int
    answers: int
    cpu: dict[str, float]
    memory: dict[str, int]


class Story(msgspec.Struct):
    minutes: list[Minute]
    messages: int
    expected: int
    """Events that the listeners have to hear."""
    heard: int
    late: float
    """Seconds from the last answer to a writer until the last listener had heard everything."""
    before: list[dict[str, Any]]
    after: list[dict[str, Any]]
    registered: float


def measure(*, quick: bool) -> Report:
    listeners, minutes, minute = (300, 2, 5.0) if quick else (LISTENERS, MINUTES, MINUTE)
    channels = 50 if quick else CHANNELS
    with open_stage() as stage:
        [hot] = stage.fill(users=listeners, channels=1)
        people = asyncio.run(stage.people(listeners))
        one = live(stage, [hot], people, minutes, minute, len(people))
    with open_stage() as stage:
        wide = stage.fill(users=channels * LISTENERS_EACH, channels=channels, subscribers=0)
        people = asyncio.run(stage.people(channels * LISTENERS_EACH))
        subscribe(stage, wide, people)
        many = live(stage, wide, people, minutes, minute, LISTENERS_EACH)
    figures = figures_of(f"one channel, {listeners:,} listeners", one)
    figures += figures_of(f"{channels:,} channels, {LISTENERS_EACH} listeners each", many)
    notes = [*words_of("one channel", one), *words_of(f"{channels:,} channels", many)]
    about = {"writers": CLIENTS, "minutes": f"{minutes} of {minute:g} s"}
    return Report("bench hot", about, figures, notes)


def subscribe(stage: Stage, channels: Sequence[Channel], people: Sequence[User]) -> None:
    """Everybody to one channel."""
    requests = []
    for number, channel in enumerate(channels):
        some = people[number * LISTENERS_EACH : (number + 1) * LISTENERS_EACH]
        principals = "[" + ",".join(str(user.user_id) for user in some) + "]"
        fields = {"subscriptions": f'[{{"name": "{channel.name}"}}]', "principals": principals}
        requests.append(request("POST", "/api/v1/users/me/subscriptions", stage.server.owner, fields))
    run_load(Load(stage.port, [requests]))


def live(
    stage: Stage, channels: Sequence[Channel], people: Sequence[User], minutes: int, minute: float, audience: int
) -> Story:
    asyncio.run(stage.sql("analyze"))
    herd = HerdClients(herd_of(people, [stage.port]))
    try:
        registered = herd.come_all(len(people))
        requests = send_requests(channels, people[:CLIENTS])
        before, newest = asyncio.run(stage.sql(_TABLES)), asyncio.run(count(stage))
        herd.tell()
        lived = [live_minute(stage, requests, herd, minute) for _ in range(minutes)]
        ended = time.perf_counter()
        messages = asyncio.run(count(stage)) - newest
        heard = sum(each.heard for each in lived)
        while heard < messages * audience and time.perf_counter() < ended + PATIENCE:
            heard += herd.tell().heard
            time.sleep(0.1)
        late = time.perf_counter() - ended
        after = asyncio.run(stage.sql(_TABLES))
    finally:
        herd.close()
    return Story(
        lived, messages, messages * audience, heard, late, list(map(dict, before)), list(map(dict, after)), registered
    )


def live_minute(stage: Stage, requests: list[list[bytes]], herd: HerdClients, seconds: float) -> Minute:
    cpu = cpu_of(stage.pids)
    loaded = run_load(Load(stage.port, requests, seconds))
    used = {name: after - cpu[name] for name, after in cpu_of(stage.pids).items()}
    news = herd.tell()
    memory = {name: rss_bytes(pid) for name, pid in stage.pids.items() if name != "postgres"}
    return Minute(loaded.rate, loaded.percentile(0.5), loaded.percentile(0.99), news.heard, news.polls, used, memory)


async def count(stage: Stage) -> int:
    number: int = (await stage.sql("select count(*) as n from message"))[0]["n"]
    return number


def figures_of(name: str, story: Story) -> list[Figure]:
    first, last = story.minutes[0], story.minutes[-1]
    web = [each.memory["web"] / 2**20 for each in story.minutes]
    return [
        Figure(f"{name}: messages", last.rate, "/s", first.rate, note="the last minute beside the first"),
        Figure("  p50 of a send", last.p50 * 1000, "ms", first.p50 * 1000),
        Figure("  p99 of a send", last.p99 * 1000, "ms", first.p99 * 1000),
        Figure("  memory of web", web[-1], "MB", web[0], note=f"at most {max(web):.0f}"),
        Figure("  events heard", story.heard, "", story.expected, "ratio 1"),
        Figure("  all heard after the last answer", story.late, "s"),
    ]


def words_of(name: str, story: Story) -> list[str]:
    seconds = sum(sum(each.cpu.values()) for each in story.minutes)
    parts = ", ".join(
        f"{part} {sum(each.cpu[part] for each in story.minutes) / seconds:.0%}" for part in story.minutes[0].cpu
    )
    answers = sum(each.answers for each in story.minutes)
    rates = ", ".join(f"{each.rate:.0f}" for each in story.minutes)
    heard = sum(each.heard for each in story.minutes)
    tables = "; ".join(
        f"{new['name']} {old['bytes'] / 2**20:.1f} to {new['bytes'] / 2**20:.1f} MB, {new['dead']:,} of "
        f"{new['dead'] + new['living']:,} rows dead, vacuumed {new['vacuumed'] - old['vacuumed']} times"
        for old, new in zip(story.before, story.after, strict=True)
    )
    return [
        f"{name}: {story.messages:,} messages; a second, minute by minute: {rates}",
        f"{name}: CPU {parts}; {heard / max(1, answers):.1f} events in each answer; all wait after {story.registered:.1f} s",
        f"{name}: {tables}",
    ]
