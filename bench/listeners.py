"""Many waiting polls, held by a process of its own; one request releases them all.

The process gets a `Crowd` on standard input as one line. Then, round after round: it sends all polls and prints `sent`;
on a line `go` it sends the trigger and prints a `Round` when every poll has been answered.
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from typing import cast

import msgspec
import uvloop

from bench.http_bytes import Answer
from bench.load import ROOT, raise_open_files

CONNECTING = 200
TOO_BUSY = b"SERVER_NOT_READY"
AGAIN_SECONDS = 1.0
ADDRESSES = 20_000
"""Connections from one loopback address to one port; more come from the next address."""


class Crowd(msgspec.Struct):
    port: int
    polls: list[bytes]
    """The requests; EVENT in one of them stands for the last event's id."""
    starts: list[int]
    trigger: bytes
    rounds: int


class Round(msgspec.Struct):
    all_seconds: float
    """From the trigger's first byte to the last answer's last byte."""
    half_seconds: float
    reply_seconds: float
    """Until the trigger itself was answered."""
    bytes_each: int
    head: bytes
    body: bytes


EVENT = b"@EVENT@"


class Listeners:
    """The parent's end."""

    def __init__(self, crowd: Crowd) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.listeners"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
        )
        self._write(msgspec.json.encode(crowd))

    def await_sent(self) -> None:
        assert self._read() == b"sent\n"

    def go(self) -> Round:
        self._write(b"go")
        return msgspec.json.decode(self._read(), type=Round)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)

    def _write(self, line: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()

    def _read(self) -> bytes:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the listeners' process ended early")
        return line


class _Poll(asyncio.Protocol):
    def __init__(self, answered: "Callable[[_Poll], None]") -> None:
        self._answered = answered
        self.answer = Answer()
        self.transport: asyncio.WriteTransport | None = None
        self.request = b""
        self.at = 0.0
        self.size = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.WriteTransport, transport)

    def ask(self, request: bytes) -> None:
        assert self.transport is not None
        self.answer.clear()
        self.request = request
        self.at, self.size = 0.0, 0
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        self.size += len(data)
        if self.answer.feed(data):
            self.at = time.perf_counter()
            self._answered(self)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.at:
            print(f"a poll's connection was lost: {exc!r}", file=sys.stderr)


class _Crowd:
    def __init__(self, crowd: Crowd) -> None:
        self._crowd = crowd
        self._left = 0
        self._all: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.polls: list[_Poll] = []

    def _count(self, poll: _Poll) -> None:
        if TOO_BUSY in poll.answer.body:  # all come at once: who is told to come later does
            asyncio.get_running_loop().call_later(AGAIN_SECONDS, poll.ask, poll.request)
            return
        if not poll.answer.is_success:
            raise SystemExit(f"a poll was refused: {poll.answer.body[:300]!r}")
        self._left -= 1
        if not self._left:
            self._all.set_result(None)

    async def connect(self) -> None:
        loop = asyncio.get_running_loop()
        gate = asyncio.Semaphore(CONNECTING)

        async def one(number: int) -> _Poll:
            address = (f"127.0.0.{1 + number // ADDRESSES}", 0)
            async with gate:
                _, poll = await loop.create_connection(
                    lambda: _Poll(self._count), "127.0.0.1", self._crowd.port, local_addr=address
                )
                return poll

        self.polls = await asyncio.gather(*map(one, range(len(self._crowd.polls))))

    async def ask(self, after: int | None) -> None:
        self._left = len(self.polls)
        self._all = asyncio.get_running_loop().create_future()
        for number, (poll, request) in enumerate(zip(self.polls, self._crowd.polls, strict=True)):
            start = self._crowd.starts[number] if after is None else after
            poll.ask(request.replace(EVENT, str(start).encode()))
            if number % CONNECTING == CONNECTING - 1:
                await asyncio.sleep(0.02)  # the server's share of the machine

    async def release(self, trigger: _Poll) -> Round:
        started = time.perf_counter()
        trigger.ask(self._crowd.trigger)
        await asyncio.wait_for(self._all, 60)
        while not trigger.at:
            await asyncio.sleep(0.001)
        times = sorted(poll.at - started for poll in self.polls)
        one = self.polls[0]
        return Round(
            times[-1], times[len(times) // 2], trigger.at - started, one.size, one.answer.head, one.answer.body
        )


async def _work() -> None:
    crowd = msgspec.json.decode(sys.stdin.buffer.readline(), type=Crowd)
    loop = asyncio.get_running_loop()
    held = _Crowd(crowd)
    await held.connect()
    _, trigger = await loop.create_connection(lambda: _Poll(lambda _: None), "127.0.0.1", crowd.port)
    after: int | None = None
    for _ in range(crowd.rounds):
        await held.ask(after)
        await asyncio.sleep(0.2)
        _say(b"sent")
        if not await asyncio.to_thread(sys.stdin.buffer.readline):
            return
        found = await held.release(trigger)
        after = _last_event(found.body)
        _say(msgspec.json.encode(found))


def _last_event(body: bytes) -> int:
    at = body.find(b'"events":[{"id":')
    return int(body[at + 16 : body.find(b",", at + 16)]) if at >= 0 else 0


def _say(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def main() -> None:
    raise_open_files()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_work())


if __name__ == "__main__":
    main()
