"""Requests at a given rate, whether or not the server keeps up, in a process of its own: as many people do.

The parent gives it an `OpenLoad` on standard input and gets an `OpenLoaded` on standard output. Each connection carries one
request at a time; if none is free when one is due, a person would wait as well, and the request is counted as `late`.
"""

import asyncio
import collections
import subprocess
import sys
import time
from typing import cast

import msgspec
import uvloop

from bench.http_bytes import Answer
from bench.load import ROOT, raise_open_files

TICK = 0.005


class OpenLoad(msgspec.Struct):
    port: int
    requests: list[bytes]
    """Sent in turn, by connection after connection."""
    connections: int
    phases: list[tuple[float, float]]
    """So many requests a second, for so many seconds, one after the other."""


class OpenLoaded(msgspec.Struct):
    answers: list[tuple[float, float, int]]
    """Of each answer: when it was asked for, counted from the beginning, how long it took, and its status."""
    late: int
    without_retry_after: int
    """Of those with status 503."""
    lost: int
    unanswered: int


def run_open_load(load: OpenLoad) -> OpenLoaded:
    done = subprocess.run(
        [sys.executable, "-m", "bench.open_load"],
        input=msgspec.json.encode(load),
        stdout=subprocess.PIPE,
        cwd=ROOT,
        check=True,
    )
    return msgspec.json.decode(done.stdout, type=OpenLoaded)


class _Run:
    def __init__(self, load: OpenLoad) -> None:
        self.load = load
        self.found = OpenLoaded([], 0, 0, 0, 0)
        self.free: collections.deque[_Client] = collections.deque()
        self.busy = 0
        self.began = 0.0


class _Client(asyncio.Protocol):
    def __init__(self, run: _Run) -> None:
        self._run = run
        self._asked = 0.0
        self._answer = Answer()
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.WriteTransport, transport)
        self._run.free.append(self)

    def ask(self, request: bytes) -> None:
        assert self._transport is not None
        self._asked = time.perf_counter()
        self._run.busy += 1
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        if not self._answer.feed(data):
            return
        run, now = self._run, time.perf_counter()
        status = int(self._answer.head[9:12])
        if status == 503 and b"retry-after: " not in self._answer.head:
            run.found.without_retry_after += 1
        run.found.answers.append((self._asked - run.began, now - self._asked, status))
        self._answer.clear()
        self._asked = 0.0
        run.busy -= 1
        run.free.append(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._run.found.lost += 1


async def _work(load: OpenLoad) -> OpenLoaded:
    loop = asyncio.get_running_loop()
    run = _Run(load)
    for _ in range(load.connections):
        await loop.create_connection(lambda: _Client(run), "127.0.0.1", load.port)
    run.began = start = time.perf_counter()
    sent = 0
    for rate, seconds in load.phases:
        due = 0.0
        while (now := time.perf_counter()) < start + seconds:
            wanted = (now - start) * rate
            while due < wanted:
                due += 1
                if run.free:
                    run.free.popleft().ask(load.requests[sent % len(load.requests)])
                    sent += 1
                else:
                    run.found.late += 1
            await asyncio.sleep(TICK)
        start += seconds
    deadline = time.perf_counter() + 30
    while run.busy and time.perf_counter() < deadline:
        await asyncio.sleep(0.05)
    run.found.unanswered = run.busy
    return run.found


def main() -> None:
    raise_open_files()
    load = msgspec.json.decode(sys.stdin.buffer.read(), type=OpenLoad)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        sys.stdout.buffer.write(msgspec.json.encode(runner.run(_work(load))))


if __name__ == "__main__":
    main()
