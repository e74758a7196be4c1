"""A herd: every web process is killed while thousands of clients wait, and started again; all come back at once.

Three times: their connections are dropped but the processes live (what coming back costs without more: the bare figure), the
processes are killed (each queue is taken over), and the processes are killed and the queues are gone (all register anew).
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import msgspec
import nats

from bench.herd_clients import BLOCK, LAST, QUEUE, Herd, HerdClients, Told
from bench.http_bytes import request
from bench.processes import cpu_seconds, own_cpu_seconds
from bench.report import Figure, Report
from bench.stage import Stage, open_stage
from tertulia.events.log.buckets import QUEUE_BUCKET
from tertulia.events.log.jetstream import call_api
from tests.harness.server import User
from tests.system.web_process import WebProcess

CLIENTS = 5_000
CHANNELS = 10
WEBS = 2
PATIENCE = 180.0
GOOD = {"back", "registered", "503", "400"}
"""What may be answered; 400 is a queue that is gone."""


class Return(msgspec.Struct):
    """How a herd came back."""

    seconds: float
    """Until the last one waits, from the moment they were sent away, or told to come."""
    half: float
    ready: float
    """Until the processes could work again; 0: they could all the time."""
    web: float
    """CPU seconds of the web processes, without their start."""
    others: dict[str, float]
    statuses: dict[str, int]
    refused: int

    @property
    def errors(self) -> int:
        return sum(count for status, count in self.statuses.items() if status not in GOOD)


def measure(*, quick: bool) -> Report:
    count = 500 if quick else CLIENTS
    with open_stage() as stage, ExitStack() as stack:
        stage.fill(users=count, channels=CHANNELS)
        people = asyncio.run(stage.people(count))
        asyncio.run(stage.sql("analyze"))
        webs = [stack.enter_context(one_web(stage, number)) for number in range(WEBS)]
        field = Field(stage, webs, count, HerdClients(herd_of(people, [web.port for web in webs])))
        stack.callback(field.clients.close)
        field.clients.come()
        field.await_all()
        calm = field.come_back(lambda: None)
        moved = field.come_back(lambda: restart(webs))
        killed = field.die()
        anew = field.come_back(lambda: restart(webs, stage))
    return report(count, calm, moved, killed, anew)


def report(count: int, calm: Return, moved: Return, killed: Return, anew: Return) -> Report:
    def per_client(seconds: float) -> float:
        return seconds / count * 1e6

    take_over = per_client(moved.web - calm.web)
    figures = [
        Figure("all wait again after kill -9", killed.seconds, "s", calm.seconds, "<= 15 s", _spread(killed)),
        Figure("same, processes ready before", moved.seconds, "s", calm.seconds, note=_spread(moved)),
        Figure("same, queues are gone", anew.seconds, "s", calm.seconds, "<= 15 s", _spread(anew)),
        Figure("CPU of a take-over", take_over, "us", target="<= 300 us", note="web, beyond a poll on a living queue"),
        Figure("CPU of coming back, web", per_client(moved.web), "us", per_client(calm.web), note="two requests"),
        Figure("CPU of registering anew, web", per_client(anew.web), "us", per_client(calm.web)),
        Figure("errors", killed.errors + moved.errors + anew.errors, "", target="0"),
    ]
    parameters = {"clients": count, "web processes": WEBS, "channels of each": CHANNELS}
    found = {"living": calm, "taken over": moved, "killed": killed, "anew": anew}
    return Report("bench herd", parameters, figures, [f"{name}: {_about(one, count)}" for name, one in found.items()])


def _about(found: Return, count: int) -> str:
    used = ", ".join(f"{name} {seconds / count * 1e6:.0f}" for name, seconds in found.others.items())
    statuses = ", ".join(f"{name} {times}" for name, times in sorted(found.statuses.items()))
    return f"answers: {statuses}; connections refused: {found.refused}; CPU us per client: {used}"


def _spread(found: Return) -> str:
    booted = f", processes ready after {found.ready:.1f} s" if found.ready else ""
    return f"half after {found.half:.1f} s{booted}"


def herd_of(people: Sequence[User], ports: list[int]) -> Herd:
    fields = {"event_types": '["message", "presence"]', "fetch_event_types": "[]"}
    registrations = [request("POST", "/api/v1/register", user, fields) for user in people]
    wanted = {"queue_id": "Q", "last_event_id": "L", "dont_block": "B"}
    polls = [
        request("GET", "/api/v1/events", user, wanted)
        .replace(b"queue_id=Q", b"queue_id=" + QUEUE)
        .replace(b"last_event_id=L", b"last_event_id=" + LAST)
        .replace(b"dont_block=B", b"dont_block=" + BLOCK)
        for user in people
    ]
    return Herd(ports, registrations, polls)


@contextmanager
def one_web(stage: Stage, number: int) -> Iterator[WebProcess]:
    """Rates are never reached, but what somebody may use for take-overs is counted as always."""
    settings = {
        "rate_limits": "true",
        "external_host": "localhost",
        "user_rate": "1000000/1",
        "address_rate": "1000000/1",
    }
    web = WebProcess(stage.server, stage.folder / f"web-{number}.log", **settings)
    web.start()
    try:
        web.await_ready(120)
        yield web
    finally:
        web.stop(seconds=20)


class Field(msgspec.Struct):
    """Where the herd is."""

    stage: Stage
    webs: Sequence[WebProcess]
    count: int
    clients: HerdClients

    def come_back(self, meanwhile: Callable[[], None]) -> Return:
        """All go away, and come back together after something has happened."""
        self.clients.rest()
        meanwhile()
        self.clients.tell()
        web, before, started = self._web_cpu(), self._others_cpu(), time.time()
        self.clients.come()
        return self._returned(started, 0.0, web, before)

    def die(self) -> Return:
        """The processes are killed while all wait; each comes back by itself."""
        self.clients.tell()
        before, started = self._others_cpu(), time.time()
        restart(self.webs)
        return self._returned(started, time.time() - started, 0.0, before)

    def _returned(self, started: float, ready: float, web: float, before: dict[str, float]) -> Return:
        told = self.await_all()
        after = self._others_cpu()
        return Return(
            seconds=told.back[-1] - started,
            half=told.back[len(told.back) // 2] - started,
            ready=ready,
            web=self._web_cpu() - web,
            others={name: after[name] - before[name] for name in after},
            statuses=told.statuses,
            refused=told.refused,
        )

    def _web_cpu(self) -> float:
        return sum(own_cpu_seconds(web.pid) for web in self.webs)

    def _others_cpu(self) -> dict[str, float]:
        return {name: cpu_seconds(self.stage.pids[name]) for name in ("postgres", "nats", "relay")}

    def await_all(self) -> Told:
        """Ask now and then until all wait; what was told meanwhile, added up."""
        deadline = time.monotonic() + PATIENCE
        statuses: Counter[str] = Counter()
        refused, back = 0, []
        while True:
            told = self.clients.tell()
            statuses.update(told.statuses)
            refused += told.refused
            back += told.back
            if told.waiting == self.count and len(back) >= self.count:
                return Told(told.waiting, dict(statuses), refused, sorted(back), told.cpu_seconds)
            if time.monotonic() > deadline:
                raise TimeoutError(f"only {told.waiting} of {self.count} wait; {statuses}")
            time.sleep(0.1)


def restart(webs: Sequence[WebProcess], without_queues: Stage | None = None) -> None:
    """Kill them, let the queues be gone if a stage is given, and start them again."""
    for web in webs:
        web.kill()
    if without_queues is not None:
        asyncio.run(forget_queues(without_queues.server.nats_url))
    for web in webs:
        web.start()
    for web in webs:
        web.await_ready(120)


async def forget_queues(url: str) -> None:
    nc = await nats.connect(url)
    await call_api(nc, f"STREAM.PURGE.KV_{QUEUE_BUCKET}")
    await nc.close()
