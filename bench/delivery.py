"""Delivery: from POST /messages sent to the event received, with the parts of the way; and 500 and 10,000 listeners of a channel.

The parts are seen from outside, one message at a time on an idle machine: a subscription of our own tells when the event
was republished, a replication slot of our own when the log sent it, and the log itself when it was committed.
"""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import asyncpg
import msgspec
import nats
import uvloop
from nats.js.api import RePublish, StreamConfig

from bench.connection import Connection
from bench.http_bytes import request, send_request
from bench.polls import Held, Registered, hold, poll_request, register
from bench.report import Figure, Report
from bench.stage import Stage, open_stage
from tertulia.events.relay import wal
from tertulia.events.relay.replication import Replication
from tests.harness.server import Channel, User

LISTENERS = (500, 10_000)
PAUSE_SECONDS = 0.02
SLOT = "bench_delivery"
WAIT_SECONDS = 10.0


def measure(*, quick: bool) -> Report:
    messages = 50 if quick else 500
    rounds = 5 if quick else 21
    crowds = (100,) if quick else LISTENERS
    with open_stage() as stage:
        [channel] = stage.fill(users=max(crowds), channels=1)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            delays = runner.run(deliver(stage, channel, messages))
            parts = runner.run(dissect(stage, channel, messages))
        held = hold_crowds(stage, channel, crowds, rounds)
    events = sorted(event * 1000 for _, event in delays)
    reply = statistics.median(reply for reply, _ in delays) * 1000
    figures = [
        Figure("one listener, p50", events[len(events) // 2], "ms", target="< 10", note=f"POST answered after {reply:.1f} ms"),
        Figure("one listener, p95", events[int(len(events) * 0.95)], "ms"),
        Figure("one listener, p99", events[int(len(events) * 0.99)], "ms"),
        *(figure_of(size, crowd) for size, crowd in held.items()),
        *(Figure(f"part: {name}", statistics.median(values) * 1000, "ms") for name, values in parts.items()),
    ]  # fmt: skip
    parameters = {"messages": messages, "pause between them": f"{PAUSE_SECONDS * 1000:g} ms", "rounds": rounds}
    notes = ["parts: medians of a second pass, whose observers share the machine; the way is the sum of the first four"]
    return Report("bench delivery", parameters, figures, notes)


def hold_crowds(stage: Stage, channel: Channel, sizes: Sequence[int], rounds: int) -> dict[int, Held]:
    """One message after the other to so many who wait, and then to more."""
    people = asyncio.run(stage.people(max(sizes)))
    trigger = send_request(channel.stream_id, stage.server.members[0])
    return {size: hold(stage, people[:size], register(stage, people[:size]), trigger, rounds) for size in sizes}


def figure_of(size: int, crowd: Held) -> Figure:
    span = [each.all_seconds * 1000 for each in crowd.rounds]
    half = statistics.median(each.half_seconds for each in crowd.rounds) * 1000
    note = (
        f"{min(span):.0f} to {max(span):.0f} ms, half of them after {half:.0f} ms; {crowd.cpu * 1e6:.0f} us of web each"
    )
    return Figure(f"until {size:,} listeners have it", crowd.seconds * 1000, "ms", note=note)


class Line:
    """A sender and a listener, one message at a time."""

    def __init__(
        self, sender: Connection, listener: Connection, send: bytes, listening: User, queue: Registered
    ) -> None:
        self._sender, self._listener = sender, listener
        self._send = send
        self._listening = listening
        self._queue = queue

    async def pass_one(self) -> tuple[float, float, float]:
        """When it was sent, answered and heard."""
        self._listener.ask(poll_request(self._listening, self._queue))
        await asyncio.sleep(PAUSE_SECONDS)
        sent = time.time()
        self._sender.ask(self._send)
        async with asyncio.timeout(WAIT_SECONDS):
            answered = await self._sender.arrived
            heard = await self._listener.arrived
        [event] = msgspec.json.decode(self._listener.answer.body)["events"]
        self._queue = Registered(self._queue.queue_id, event["id"])
        return sent, answered, heard


async def open_line(stage: Stage, channel: Channel) -> Line:
    loop = asyncio.get_running_loop()
    _, sender = await loop.create_connection(Connection, "127.0.0.1", stage.port)
    _, listener = await loop.create_connection(Connection, "127.0.0.1", stage.port)
    first, second = stage.server.members[:2]
    fields = {"event_types": '["message"]', "fetch_event_types": "[]"}
    listener.ask(request("POST", "/api/v1/register", second, fields))
    await listener.arrived
    queue = msgspec.json.decode(listener.answer.body, type=Registered)
    return Line(sender, listener, send_request(channel.stream_id, first), second, queue)


async def deliver(stage: Stage, channel: Channel, messages: int) -> list[tuple[float, float]]:
    """Seconds until the reply, and until the event."""
    line = await open_line(stage, channel)
    for _ in range(10):
        await line.pass_one()
    passed = [await line.pass_one() for _ in range(messages)]
    return [(answered - sent, heard - sent) for sent, answered, heard in passed]


class Observer:
    """What comes by, one at a time."""

    def __init__(self) -> None:
        self.seen: asyncio.Queue[Any] = asyncio.Queue()

    async def next(self) -> Any:
        async with asyncio.timeout(WAIT_SECONDS):
            return await self.seen.get()


async def dissect(stage: Stage, channel: Channel, messages: int) -> dict[str, list[float]]:
    """The parts of the way, in seconds."""
    parts: dict[str, list[float]] = {}

    def add(name: str, seconds: float) -> None:
        parts.setdefault(name, []).append(seconds)

    async with watch_log(stage) as log, watch_live(stage) as live:
        line = await open_line(stage, channel)
        for number in range(messages + 10):
            sent, answered, heard = await line.pass_one()
            committed, logged = await log.next()
            republished = await live.next()
            if number < 10:
                continue
            add("POST sent -> commit begins (parse, who, rules, statements)", committed - sent)
            add("commit begins -> the log sends it (fsync, decoding)", logged - committed)
            add("the log sends it -> republished (relay, JetStream)", republished - logged)
            add("republished -> event received (web, client)", heard - republished)
            add("beside it: commit begins -> POST answered", answered - committed)
    stored, out = await jetstream_times(stage, messages)
    parts["alone: publish to JetStream -> acknowledged"] = stored
    parts["alone: publish to JetStream -> republished"] = out
    return parts


@asynccontextmanager
async def watch_log(stage: Stage) -> AsyncIterator[Observer]:
    """Yields (commit time, arrival) of each transaction with an event, through a slot of our own."""
    url = stage.server.postgres_url
    pg = await asyncpg.connect(url)
    await pg.execute("select pg_create_logical_replication_slot($1, 'pgoutput')", SLOT)
    replication = await Replication.open(url)
    await replication.start(SLOT, "tertulia_events")
    observer = Observer()

    async def read() -> None:
        committed, has_event = 0.0, False
        while True:
            payload = replication.read()
            if payload is None:
                await replication.readable()
                continue
            match wal.parse(payload):
                case wal.Begin(_, at, _):
                    committed, has_event = at, False
                case wal.Message() as message:
                    if wal.is_event(message) and not has_event:
                        has_event = True
                        observer.seen.put_nowait((committed, time.time()))

    task = asyncio.create_task(read())
    try:
        yield observer
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        replication.close()
        await asyncio.sleep(0.5)
        await pg.execute("select pg_drop_replication_slot($1)", SLOT)
        await pg.close()


@asynccontextmanager
async def watch_live(stage: Stage) -> AsyncIterator[Observer]:
    nc = await nats.connect(stage.server.nats_url)
    observer = Observer()

    async def arrived(_: object) -> None:
        observer.seen.put_nowait(time.time())

    await nc.subscribe("live.>", cb=arrived)
    await nc.flush()
    try:
        yield observer
    finally:
        await nc.close()


async def jetstream_times(stage: Stage, messages: int) -> tuple[list[float], list[float]]:
    """A file stream with republish, as ours are, and one message at a time."""
    nc = await nats.connect(stage.server.nats_url)
    js = nc.jetstream()
    config = StreamConfig(name="BENCH", subjects=["bench.in"], republish=RePublish(src="bench.in", dest="bench.out"))
    await js.add_stream(config)
    observer = Observer()

    async def arrived(_: object) -> None:
        observer.seen.put_nowait(time.time())

    await nc.subscribe("bench.out", cb=arrived)
    await nc.flush()
    stored, out = [], []
    for _ in range(messages):
        started = time.time()
        await nc.request("bench.in", b"x" * 600, timeout=WAIT_SECONDS)
        stored.append(time.time() - started)
        out.append(await observer.next() - started)
        await asyncio.sleep(0.002)
    await js.delete_stream("BENCH")
    await nc.close()
    return stored, out
