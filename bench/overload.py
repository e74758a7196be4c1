"""Three times as much as the server can do, for minutes; and a bulk action of 10,000 people while others talk.

What can be done is measured first: 64 clients that send as fast as they are answered. Then requests come three times as fast,
whether or not they are answered, and at last half as fast, to see how soon all is well again.
"""

import asyncio
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence

from bench.http_bytes import request, send_request
from bench.load import Load, run_load
from bench.open_load import OpenLoad, OpenLoaded, run_open_load
from bench.processes import rss_bytes
from bench.report import Figure, Report
from bench.send import send_requests
from bench.stage import Stage, open_stage
from tertulia.kernel.settings import Settings
from tests.harness.server import PATIENT, Channel, User

CLIENTS = 64
TALKERS = 2000
CHANNELS = 10
CONNECTIONS = 4000
TIMES = 3.0
PEOPLE = 10_000
CALM_SECONDS = 10.0
MINUTES = 10.0


def measure(*, quick: bool, minutes: float = 0.0) -> Report:
    seconds = 60 * minutes if minutes else 20.0 if quick else 60 * MINUTES
    bulk = 1_000 if quick else PEOPLE
    default = Settings()
    limits = {name: getattr(default, name) for name in PATIENT if name != "rate_limits"}
    with open_stage(**limits) as stage:
        channels = stage.fill(users=max(bulk, TALKERS), channels=CHANNELS, subscribers=TALKERS)
        people = asyncio.run(stage.people(TALKERS))
        asyncio.run(stage.sql("analyze"))
        sustainable = run_load(Load(stage.port, send_requests(channels, people[:CLIENTS]), 5.0, warm_up=1.0)).rate
        before = rss_bytes(stage.pids["web"])
        memory = Memory(stage.pids["web"])
        found = overload(stage, channels, people, sustainable, seconds)
        memory.stop()
        delays = talk_during(stage, channels[0], people, lambda: subscribe_all(stage, channels[1], bulk))
    return report(sustainable, seconds, found, (before, memory.most), delays, bulk)


def overload(
    stage: Stage, channels: Sequence[Channel], people: Sequence[User], sustainable: float, seconds: float
) -> OpenLoaded:
    """Mostly sends, and what people do beside."""
    requests = []
    newest = {"anchor": "newest", "num_before": "20", "num_after": "0"}
    for number, user in enumerate(people):
        if number % 4 == 3:
            requests.append(request("GET", "/api/v1/messages", user, newest))
        else:
            requests.append(send_request(channels[number % len(channels)].stream_id, user))
    phases = [(sustainable * TIMES, seconds), (sustainable / 2, CALM_SECONDS)]
    return run_open_load(OpenLoad(stage.port, requests, CONNECTIONS, phases))


def report(
    sustainable: float,
    seconds: float,
    found: OpenLoaded,
    memory: tuple[int, int],
    delays: tuple[list[float], float],
    bulk: int,
) -> Report:
    storm = [one for one in found.answers if one[0] < seconds]
    served = sorted(took for _, took, status in storm if status == 200)
    refused = sorted(took for _, took, status in storm if status == 503)
    others = Counter(status for _, _, status in found.answers if status not in (200, 503))
    figures = [
        Figure("served in the storm", len(served) / seconds, "/s", sustainable, note="bare: what 64 clients get"),
        Figure("refused in the storm", len(refused) / seconds, "/s", note=_spread(refused)),
        Figure("answered in, 99 %", percentile(served, 0.99), "s", target="<= 2 s", note=_spread(served)),
        Figure("longest answer", served[-1], "s", target="<= 2 s"),
        Figure("until all is well again", recovery(found, seconds), "s", target="<= 5 s"),
        Figure("memory of web, most", memory[1] / 2**20, "MiB", memory[0] / 2**20, note="bare: before"),
        Figure(f"{bulk:,} people subscribed at once", delays[1], "s"),
        Figure("longest message meanwhile", max(delays[0]), "s", target="<= 1 s", note=_spread(sorted(delays[0]))),
    ]
    about = (
        f"other answers: {dict(others)}; 503 without Retry-After: {found.without_retry_after}; lost: {found.lost}; "
        f"unanswered: {found.unanswered}; not sent because all {CONNECTIONS} connections were busy: {found.late}"
    )
    return Report("bench overload", {"times": TIMES, "seconds": seconds, "messages": "three of four"}, figures, [about])


def percentile(values: Sequence[float], part: float) -> float:
    return values[min(len(values) - 1, int(len(values) * part))] if values else 0.0


def _spread(values: Sequence[float]) -> str:
    if not values:
        return "none"
    return (
        f"median {statistics.median(values):.3f} s, 95 % {percentile(values, 0.95):.3f} s, longest {values[-1]:.2f} s"
    )


def recovery(found: OpenLoaded, end: float) -> float:
    """Seconds from the end of the storm to the last request that was refused, or answered after more than half a second."""
    bad = [asked for asked, took, status in found.answers if asked >= end and (status != 200 or took > 0.5)]
    return max(bad) - end if bad else 0.0


class Memory:
    """The most that a process has, looked at again and again."""

    def __init__(self, pid: int) -> None:
        self.most = rss_bytes(pid)
        self._pid = pid
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def stop(self) -> None:
        self._is_over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._is_over.wait(0.5):
            self.most = max(self.most, rss_bytes(self._pid))


def subscribe_all(stage: Stage, channel: Channel, count: int) -> float:
    """The owner subscribes so many people to a channel by one request; how long it takes."""
    rows = asyncio.run(stage.sql("select id from account where email like 'filled%' order by id limit $1", count))
    fields = {
        "subscriptions": f'[{{"name": "{channel.name}"}}]',
        "principals": "[" + ",".join(str(row["id"]) for row in rows) + "]",
    }
    asked = request("POST", "/api/v1/users/me/subscriptions", stage.server.owner, fields)
    started = time.perf_counter()
    run_load(Load(stage.port, [[asked]]))
    return time.perf_counter() - started


def talk_during(
    stage: Stage, channel: Channel, people: Sequence[User], act: Callable[[], float]
) -> tuple[list[float], float]:
    """How long messages of others take while something large happens, and how long that takes."""
    took: list[float] = []

    def work() -> None:
        took.append(act())

    worker = threading.Thread(target=work)
    sends = [send_request(channel.stream_id, user) for user in people]
    worker.start()
    delays: list[float] = []
    while worker.is_alive() or not delays:
        found = run_open_load(OpenLoad(stage.port, sends, 50, [(20.0, 2.0)]))
        delays += [seconds for _, seconds, status in found.answers if status == 200]
    worker.join()
    return delays, took[0]
