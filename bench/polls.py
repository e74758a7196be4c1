"""10,000 waiting polls on one web process: memory of each, and the time until one message has reached all of them.

The bare engine is a uvicorn process with our settings that holds as many requests and releases the same bytes.
"""

import asyncio
import re
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from bench.http_bytes import request, send_request
from bench.listeners import EVENT, Crowd, Listeners, Round
from bench.load import ROOT, Load, run_load
from bench.processes import cpu_seconds, rss_bytes
from bench.report import Figure, Report
from bench.stage import Stage, open_stage
from tertulia.engines import free_port
from tests.harness.server import User

POLLS = 10_000
REGISTERING = 16


class Held(msgspec.Struct):
    """What the rounds of one server were like."""

    memory: float
    cpu: float
    """Seconds of the serving process from the trigger to the last answer, per poll."""
    rounds: list[Round]

    @property
    def seconds(self) -> float:
        return statistics.median(each.all_seconds for each in self.rounds)


class Registered(msgspec.Struct):
    queue_id: str
    last_event_id: int


def measure(*, quick: bool) -> Report:
    polls = 1_000 if quick else POLLS
    rounds = 3 if quick else 7
    with open_stage() as stage:
        [channel] = stage.fill(users=polls, channels=1)
        people = asyncio.run(stage.people(polls))
        empty = rss_bytes(stage.pids["web"])
        started = time.perf_counter()
        registered = register(stage, people)
        registering = polls / (time.perf_counter() - started)
        queue_memory = (rss_bytes(stage.pids["web"]) - empty) / polls
        sender = stage.server.members[0]
        ours = hold(stage, people, registered, send_request(channel.stream_id, sender), rounds)
    bare = hold_bare(polls, ours.rounds[-1], rounds)
    figures = [
        Figure(
            "until all have the message",
            ours.seconds * 1000,
            "ms",
            bare.seconds * 1000,
            "ratio <= 2",
            _spread(ours, bare),
        ),
        Figure("CPU per poll, message to answer", ours.cpu * 1e6, "us", bare.cpu * 1e6, note="of the serving process"),
        Figure("memory of a waiting poll", ours.memory / 1024, "kB", bare.memory / 1024, note="connection included"),
        Figure("memory of a queue", queue_memory / 1024, "kB", note="before it is polled"),
        Figure("registrations (no state)", registering, "/s", note=f"{REGISTERING} connections"),
    ]
    parameters = {"polls": polls, "listeners": "as many users, one queue each", "rounds": rounds}
    size = f"{ours.rounds[-1].bytes_each} bytes to each listener (bare: {bare.rounds[-1].bytes_each})"
    return Report("bench polls", parameters, figures, [size])


def register(stage: Stage, people: Sequence[User]) -> list[Registered]:
    """A queue for each; only messages, and no state, so that it is quick."""
    fields = {"event_types": '["message"]', "fetch_event_types": "[]", "apply_markdown": "true"}
    requests = [request("POST", "/api/v1/register", user, fields) for user in people]
    portions = [requests[number::REGISTERING] for number in range(REGISTERING)]
    bodies = run_load(Load(stage.port, portions, keep=True)).bodies
    found: list[Registered] = [msgspec.json.decode(body, type=Registered) for body in bodies]
    # Answers come back connection by connection: sort them as the people are.
    order = [number for start in range(REGISTERING) for number in range(start, len(people), REGISTERING)]
    sorted_by_person = sorted(zip(order, found, strict=True), key=lambda pair: pair[0])
    return [each for _, each in sorted_by_person]


def poll_request(user: User, queue: Registered) -> bytes:
    fields = {"queue_id": queue.queue_id, "last_event_id": str(queue.last_event_id)}
    return request("GET", "/api/v1/events", user, fields)


def hold(stage: Stage, people: Sequence[User], registered: Sequence[Registered], trigger: bytes, rounds: int) -> Held:
    polls = []
    for user, queue in zip(people, registered, strict=True):
        fields = {"queue_id": queue.queue_id, "last_event_id": "0"}
        made = request("GET", "/api/v1/events", user, fields)
        polls.append(made.replace(b"last_event_id=0", b"last_event_id=" + EVENT))
    crowd = Crowd(stage.port, polls, [queue.last_event_id for queue in registered], trigger, rounds)
    return run_rounds(crowd, stage.pids["web"], lambda: waiting_polls(stage.server.metrics))


def hold_bare(polls: int, answer: Round, rounds: int) -> Held:
    port = free_port()
    with bare_server(port, answer.head + answer.body) as pid:
        url = f"http://127.0.0.1:{port}"
        crowd = Crowd(port, [request("GET", "/poll")] * polls, [0] * polls, request("POST", "/release"), rounds)
        return run_rounds(crowd, pid, lambda: int(read(f"{url}/waiting")))


def run_rounds(crowd: Crowd, pid: int, waiting: Callable[[], int]) -> Held:
    before = rss_bytes(pid)
    listeners = Listeners(crowd)
    memory = cpu = 0.0
    found = []
    try:
        for _ in range(crowd.rounds):
            listeners.await_sent()
            await_waiting(waiting, len(crowd.polls))
            memory = memory or (rss_bytes(pid) - before) / len(crowd.polls)
            time.sleep(0.5)  # a calm moment before the storm
            started = cpu_seconds(pid)
            found.append(listeners.go())
            cpu += cpu_seconds(pid) - started
    finally:
        listeners.close()
    return Held(memory, cpu / crowd.rounds / len(crowd.polls), found)


def await_waiting(waiting: Callable[[], int], wanted: int) -> None:
    deadline = time.monotonic() + 60
    while (count := waiting()) < wanted:
        if time.monotonic() > deadline:
            raise TimeoutError(f"only {count} of {wanted} polls wait")
        time.sleep(0.1)


def waiting_polls(url: str) -> int:
    found = re.search(rb"^tertulia_waiting_polls ([\d.e+]+)$", read(f"{url}/metrics"), re.MULTILINE)
    return int(float(found[1])) if found else 0


def read(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=30) as answer:
        body: bytes = answer.read()
        return body


@contextmanager
def bare_server(port: int, answer: bytes) -> Iterator[int]:
    process = subprocess.Popen([sys.executable, "-m", "bench.bare_uvicorn", str(port)], stdin=subprocess.PIPE, cwd=ROOT)
    assert process.stdin is not None
    process.stdin.write(answer)
    process.stdin.close()
    try:
        deadline = time.monotonic() + 20
        while True:
            try:
                read(f"http://127.0.0.1:{port}/waiting")
                break
            except (urllib.error.URLError, ConnectionError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        yield process.pid
    finally:
        process.terminate()
        process.wait(20)


def _spread(ours: Held, bare: Held) -> str:
    def span(held: Held) -> str:
        times = [each.all_seconds * 1000 for each in held.rounds]
        return f"{min(times):.0f} to {max(times):.0f} ms"

    reply = statistics.median(each.reply_seconds for each in ours.rounds) * 1000
    return f"{span(ours)}, bare {span(bare)}; POST answered after {reply:.0f} ms"
