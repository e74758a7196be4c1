"""What each kind of call costs on this machine, and by that what a person who is online costs for an hour (`bench/model.py`).

Calls come from 16 connections at once, as fast as they are answered, in an organization of 1,000 people and 100 channels.
Processor time is that of all our processes and the engines; who asks is not counted.
"""

import asyncio
import json
import time
from collections.abc import Sequence

import msgspec

from bench.herd import herd_of
from bench.herd_clients import HerdClients
from bench.http_bytes import request, send_request
from bench.load import Load, run_load
from bench.model import ROOM, Call, Constants, Usage, hour, load_of, people_on
from bench.presence import ping
from bench.processes import cpu_of, rss_bytes
from bench.report import Figure, Report
from bench.stage import Stage, open_stage
from tests.harness.server import Channel, User

CLIENTS = 16
PEOPLE, CHANNELS = 1_000, 100
PAUSE_SECONDS = 3.0
"""From one message to the next: everybody has heard it, and waits again."""
CARRIED = 1_000_000

_UNREAD = "update read_state set read = '{}', history = '{[1,)}' where user_id = any($1::bigint[])"
_MESSAGES = "select id from message where conversation_id = $1 order by id"
_SIZES = """
select (select count(*) from message) as messages, pg_total_relation_size('message') as bytes,
    pg_current_wal_lsn() - '0/0'::pg_lsn as log
"""


def measure(*, quick: bool) -> Report:
    seconds = 2.0 if quick else 10.0
    people = 200 if quick else PEOPLE
    with open_stage() as stage:
        channels = stage.fill(users=people, channels=CHANNELS, messages=CHANNELS * 100)
        crowd = asyncio.run(stage.people(people))
        asyncio.run(stage.sql("analyze"))
        calls = measure_calls(stage, channels, crowd[:CLIENTS], seconds)
        sizes = measure_sizes(stage, channels, crowd[0], seconds)
        poll, waiting, event = measure_polls(stage, channels[0], crowd, 3 if quick else 10)
    constants = Constants(
        **calls,
        poll=poll,
        waiting_bytes=waiting,
        message_bytes=sizes[0],
        log_bytes=sizes[1],
        event_bytes=event,
    )
    return report(constants, people, seconds)


def measure_calls(stage: Stage, channels: Sequence[Channel], people: Sequence[User], seconds: float) -> dict[str, Call]:
    """By the name of the constant."""
    window = {"anchor": "newest", "num_before": "100", "num_after": "0"}
    place = {"op": "start", "type": "channel", "topic": "bench"}

    def at(number: int) -> Channel:
        return channels[number % len(channels)]

    def each(method: str, path: str, fields: Sequence[dict[str, str]]) -> list[bytes]:
        return [request(method, f"/api/v1/{path}", user, own) for user, own in zip(people, fields, strict=True)]

    narrows = [
        json.dumps([{"operator": "channel", "operand": at(number).stream_id}]) for number, _ in enumerate(people)
    ]
    asked = {
        "send": [send_request(at(number).stream_id, user) for number, user in enumerate(people)],
        "typing": each("POST", "typing", [place | {"stream_id": str(at(n).stream_id)} for n, _ in enumerate(people)]),
        "fetch": each("GET", "messages", [window | {"narrow": narrow} for narrow in narrows]),
        "ping": [ping(user, {"last_update_id": "-1"}) for user in people],
        "registration": each("POST", "register", [{"apply_markdown": "true"} for _ in people]),
    }
    found = {name: spent(stage, [[own] for own in requests], seconds) for name, requests in asked.items()}
    return found | {"mark": measure_marks(stage, channels, people)}


def measure_marks(stage: Stage, channels: Sequence[Channel], people: Sequence[User]) -> Call:
    """Five messages at a time, from the oldest on."""
    asyncio.run(stage.sql(_UNREAD, [user.user_id for user in people]))
    ids = [row["id"] for row in asyncio.run(stage.sql(_MESSAGES, channels[-1].stream_id))]
    some = [json.dumps(ids[start : start + 5]) for start in range(0, len(ids), 5)]
    fields = [{"messages": few, "op": "add", "flag": "read"} for few in some]
    requests = [[request("POST", "/api/v1/messages/flags", user, own) for own in fields] for user in people]
    return spent(stage, requests, 0.0)


def spent(stage: Stage, requests: list[list[bytes]], seconds: float) -> Call:
    """Seconds of CPU for each request."""
    if seconds:
        run_load(Load(stage.port, requests, 1.0))  # connections are open, statements prepared
    before = cpu_of(stage.pids)
    loaded = run_load(Load(stage.port, requests, seconds))
    time.sleep(1.0)  # what is done after the answer
    return used_since(stage, before, loaded.count)


def used_since(stage: Stage, before: dict[str, float], count: int) -> Call:
    after = cpu_of(stage.pids)
    known = msgspec.structs.fields(Call)
    return Call(**{part.name: (after[part.name] - before[part.name]) / count for part in known if part.name in after})


def measure_sizes(stage: Stage, channels: Sequence[Channel], sender: User, seconds: float) -> tuple[float, float]:
    """Bytes of a message on the disk, and in the write-ahead log."""
    [before] = asyncio.run(stage.sql(_SIZES))
    requests = [[send_request(channel.stream_id, sender) for channel in channels]]
    run_load(Load(stage.port, requests, max(seconds, 5.0)))
    [after] = asyncio.run(stage.sql(_SIZES))
    count = after["messages"] - before["messages"]
    return (after["bytes"] - before["bytes"]) / count, float(after["log"] - before["log"]) / count


def measure_polls(stage: Stage, channel: Channel, people: Sequence[User], messages: int) -> tuple[Call, float, float]:
    """What a poll costs from one to the next, the bytes of memory of somebody who waits, and those of an answer."""
    empty = rss_bytes(stage.pids["web"])
    herd = HerdClients(herd_of(people, [stage.port]))
    try:
        herd.come_all(len(people))
        waiting = (rss_bytes(stage.pids["web"]) - empty) / len(people)
        idle = idle_seconds(stage)
        herd.tell()
        before, began, polls, size = cpu_of(stage.pids), time.perf_counter(), 0, 0
        for _ in range(messages):
            run_load(Load(stage.port, [[send_request(channel.stream_id, people[0])]]))
            time.sleep(PAUSE_SECONDS)
            news = herd.tell()
            polls += news.polls
            size += news.bytes
        seconds = time.perf_counter() - began
        used = used_since(stage, before, 1)
        return (used + idle.times(-seconds)).times(1 / polls), waiting, size / polls
    finally:
        herd.close()


def idle_seconds(stage: Stage) -> Call:
    """What a second costs in which nobody asks for anything."""
    before = cpu_of(stage.pids)
    time.sleep(PAUSE_SECONDS * 2)
    return used_since(stage, before, 1).times(1 / (PAUSE_SECONDS * 2))


def report(constants: Constants, people: int, seconds: float) -> Report:
    names = {"send": "a message", "poll": "a poll, from one to the next", "typing": "typing", "mark": "five messages marked read",
             "fetch": "100 messages fetched", "ping": "a presence ping", "registration": "a registration"}  # fmt: skip
    figures = [Figure(about, 1e6 * getattr(constants, name).whole, "us", note=parts_of(getattr(constants, name)))
               for name, about in names.items()]  # fmt: skip
    figures += [
        Figure("memory of somebody who waits", constants.waiting_bytes / 1024, "kB", note="web"),
        Figure("a message on the disk", constants.message_bytes, "bytes", note="with its indexes"),
        Figure("a message in the log", constants.log_bytes, "bytes"),
        Figure("an event to a listener", constants.event_bytes, "bytes", note="head included"),
    ]
    usage = Usage()
    kinds = hour(constants, usage)
    whole = sum(kinds.values(), Call())
    figures += [
        Figure(f"an hour: {kind}", call.whole * 1000, "ms", note=parts_of(call, "ms")) for kind, call in kinds.items()
    ]
    figures += [
        Figure("an hour online", whole.whole * 1000, "ms of CPU", note=parts_of(whole, "ms")),
        Figure("online on two cores like these", people_on(constants, usage, 2), "people", note=f"{ROOM:.0%} busy"),
    ]
    need = load_of(constants, usage, CARRIED)
    notes = [
        (
            f"{CARRIED:,} online: cores: {parts_of(need.cores, '')}; memory {need.memory_bytes / 2**30:,.0f} GB; "
            f"{need.messages_per_second:,.0f} messages and changes a second, heard {need.heard_per_second:,.0f} times; "
            f"network {need.network_bits_per_second / 1e9:.1f} Gbit/s; {need.disk_bytes_per_day / 2**30:,.0f} GB stored a day"
        ),
        f"assumed of an hour: {', '.join(f'{name} {count:g}' for name, count in msgspec.structs.asdict(usage).items())}",
    ]
    about = {"clients": CLIENTS, "people": people, "channels": CHANNELS, "seconds": seconds}
    return Report("bench constants", about, figures, notes)


def parts_of(call: Call, unit: str = "us") -> str:
    scale = {"us": 1e6, "ms": 1e3, "": 1.0}[unit]
    parts = sorted(msgspec.structs.asdict(call).items(), key=lambda part: -part[1])
    return ", ".join(f"{name} {seconds * scale:,.3g}" for name, seconds in parts if seconds)
