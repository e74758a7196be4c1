"""A cheap load generator in a process of its own: raw sockets, prepared requests, hardly any parsing.

The parent gives it a `Load` on standard input and gets a `Loaded` on standard output. Each connection sends its next
request when the answer to the last one is complete.
"""

import asyncio
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import cast

import msgspec
import uvloop

from bench.http_bytes import Answer

ROOT = Path(__file__).parents[1]


class Load(msgspec.Struct):
    port: int
    connections: list[list[bytes]]
    """The requests of each connection."""
    seconds: float = 0.0
    """How long they are repeated; 0: each is sent once."""
    warm_up: float = 0.0
    keep: bool = False
    """Give the bodies of the answers back, in the order of connections and requests."""


class Loaded(msgspec.Struct):
    count: int
    errors: int
    seconds: float
    cpu_seconds: float
    latencies: list[float]
    """Sorted, in seconds."""
    bodies: list[bytes]
    first_error: str = ""

    @property
    def rate(self) -> float:
        return self.count / self.seconds

    def percentile(self, part: float) -> float:
        return self.latencies[min(len(self.latencies) - 1, int(len(self.latencies) * part))] if self.latencies else 0.0


def run_load(load: Load) -> Loaded:
    """Run it in another process and wait for its figures."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.load"],
        input=msgspec.json.encode(load),
        stdout=subprocess.PIPE,
        cwd=ROOT,
        check=True,
    )
    loaded = msgspec.json.decode(done.stdout, type=Loaded)
    if loaded.errors:
        raise RuntimeError(f"{loaded.errors} of {loaded.count} requests failed, the first: {loaded.first_error}")
    return loaded


class _Run:
    def __init__(self, load: Load) -> None:
        self.load = load
        self.latencies: list[float] = []
        self.errors = 0
        self.first_error = ""
        self.is_over = False
        self.left = len(load.connections)
        self.finished: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def leave(self) -> None:
        self.left -= 1
        if not self.left and not self.finished.done():
            self.finished.set_result(None)


class _Client(asyncio.Protocol):
    def __init__(self, run: _Run, requests: list[bytes]) -> None:
        self._run = run
        self._requests = requests
        self._next = 0
        self._sent = 0.0
        self._answer = Answer()
        self._transport: asyncio.WriteTransport | None = None
        self.bodies: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.WriteTransport, transport)  # uvloop's own has another base

    def fire(self) -> None:
        assert self._transport is not None
        request = self._requests[self._next % len(self._requests)]
        self._next += 1
        self._sent = time.perf_counter()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        answer, run = self._answer, self._run
        if not answer.feed(data):
            return
        run.latencies.append(time.perf_counter() - self._sent)
        if not answer.is_success:
            run.errors += 1
            run.first_error = run.first_error or answer.body[:300].decode(errors="replace")
        if run.load.keep:
            self.bodies.append(answer.body)
        answer.clear()
        if run.is_over or (not run.load.seconds and self._next == len(self._requests)):
            run.leave()
        else:
            self.fire()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._run.finished.done():
            self._run.finished.set_exception(exc or ConnectionError("the server closed a connection"))


async def _work(load: Load) -> Loaded:
    loop = asyncio.get_running_loop()
    run = _Run(load)
    clients = []
    for requests in load.connections:
        _, client = await loop.create_connection(lambda r=requests: _Client(run, r), "127.0.0.1", load.port)  # type: ignore[misc]
        clients.append(client)
    for client in clients:
        client.fire()
    if load.seconds:
        await asyncio.sleep(load.warm_up)
        run.latencies.clear()
    started, cpu = time.perf_counter(), time.process_time()
    if load.seconds:
        await asyncio.sleep(load.seconds)
        seconds, used, latencies = time.perf_counter() - started, time.process_time() - cpu, run.latencies.copy()
        run.is_over = True
        await run.finished
    else:
        await run.finished
        seconds, used, latencies = time.perf_counter() - started, time.process_time() - cpu, run.latencies
    bodies = [body for client in clients for body in client.bodies]
    return Loaded(len(latencies), run.errors, seconds, used, sorted(latencies), bodies, run.first_error)


def main() -> None:
    raise_open_files()
    load = msgspec.json.decode(sys.stdin.buffer.read(), type=Load)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        sys.stdout.buffer.write(msgspec.json.encode(runner.run(_work(load))))


def raise_open_files() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


if __name__ == "__main__":
    main()
