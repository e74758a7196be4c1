"""Thousands of clients that wait for events and come back as ours do, in a process of its own.

It gets a `Herd` on standard input as one line, and then a word on each line: `rest` (close every connection and stay away),
`come` (all within a second; register if need be, and wait), `tell`. It answers each with one line, a `HerdNews`. That a
connection is lost is noticed without a word.

A client waits before each try: a random time up to a bound that doubles, or what the server says and a little more. Its first
request is `dont_block`, as that of our web client; with its answer the client is back, and waits.
"""

import asyncio
import collections
import random
import subprocess
import sys
import time
from typing import cast

import msgspec
import uvloop

from bench.http_bytes import Answer
from bench.load import ROOT, raise_open_files

FIRST_WAIT = 1.0
LONGEST_WAIT = 10.0
COMING_SECONDS = 300.0
"""Thousands who register at once are told to come later, some of them often."""


class Herd(msgspec.Struct):
    ports: list[int]
    """Client n talks to port n modulo their number: behind a balancer a queue has its process."""
    registrations: list[bytes]
    polls: list[bytes]
    """QUEUE and LAST stand for the queue's id and the last event's, and BLOCK for `dont_block`."""


class HerdNews(msgspec.Struct):
    waiting: int
    """How many are back."""
    statuses: dict[str, int]
    """What the server answered, since the last time."""
    refused: int
    """Connections that nobody took, because no process was there."""
    back: list[float]
    """When each came back (`time.time`), of those that did since the last time; sorted."""
    cpu_seconds: float
    heard: int = 0
    """Events, since the last time."""
    polls: int = 0
    """Answers that brought them."""
    bytes: int = 0
    """Of these answers, their heads included."""


QUEUE, LAST, BLOCK = b"@QUEUE@", b"@LAST@", b"@BLOCK@"


class HerdClients:
    """The parent's end."""

    def __init__(self, herd: Herd) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.herd_clients"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
        )
        self._write(msgspec.json.encode(herd))

    def come(self) -> HerdNews:
        return self._ask(b"come")

    def come_all(self, count: int) -> float:
        """All come; seconds until so many wait."""
        started = time.perf_counter()
        self.come()
        while (news := self.tell()).waiting < count:
            if time.perf_counter() > started + COMING_SECONDS:
                raise TimeoutError(f"only {news.waiting} of {count} wait")
            time.sleep(0.5)
        return time.perf_counter() - started

    def rest(self) -> HerdNews:
        return self._ask(b"rest")

    def tell(self) -> HerdNews:
        return self._ask(b"tell")

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)

    def _ask(self, word: bytes) -> HerdNews:
        self._write(word)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the clients' process ended early")
        return msgspec.json.decode(line, type=HerdNews)

    def _write(self, line: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()


class _Tally:
    def __init__(self) -> None:
        self.waiting = 0
        self.is_resting = True
        self.connecting: set[asyncio.Task[None]] = set()
        self.clear()

    def clear(self) -> None:
        self.statuses: collections.Counter[str] = collections.Counter()
        self.refused = 0
        self.back: list[float] = []
        self.heard = self.polls = self.bytes = 0


class _Registered(msgspec.Struct):
    queue_id: str
    last_event_id: int


class _Event(msgspec.Struct):
    id: int
    type: str


class _Events(msgspec.Struct):
    events: list[_Event]


class _Refused(msgspec.Struct):
    code: str = ""


_registered = msgspec.json.Decoder(_Registered)
_events = msgspec.json.Decoder(_Events)
_refused = msgspec.json.Decoder(_Refused)


class _Client(asyncio.Protocol):
    def __init__(self, tally: _Tally, port: int, registration: bytes, poll: bytes) -> None:
        self._tally = tally
        self._port = port
        self._registration = registration
        self._poll = poll
        self._answer = Answer()
        self._transport: asyncio.WriteTransport | None = None
        self._queue = b""
        self._last = 0
        self._failures = 0
        self._is_back = False
        self._is_polling = False

    def come(self, most: float) -> None:
        asyncio.get_running_loop().call_later(random.uniform(0, most), self._begin)

    def rest(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def _begin(self) -> None:
        if self._tally.is_resting:
            return
        if self._transport is None:
            self._tally.connecting.add(task := asyncio.ensure_future(self._connect()))
            task.add_done_callback(self._tally.connecting.discard)
        else:
            self._ask()

    async def _connect(self) -> None:
        try:
            await asyncio.get_running_loop().create_connection(lambda: self, "127.0.0.1", self._port)
        except OSError:
            self._tally.refused += 1
            self._fail(0.0)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.WriteTransport, transport)
        self._ask()

    def _ask(self) -> None:
        assert self._transport is not None
        self._answer.clear()
        self._is_polling = bool(self._queue)
        if not self._queue:
            self._transport.write(self._registration)
            return
        block = b"false" if self._is_back else b"true"
        filled = self._poll.replace(QUEUE, self._queue).replace(LAST, b"%d" % self._last).replace(BLOCK, block)
        self._transport.write(filled)

    def data_received(self, data: bytes) -> None:
        if not self._answer.feed(data):
            return
        head, body = self._answer.head, self._answer.body
        status = head[9:12].decode()
        if status == "200":
            self._take(body)
            return
        self._tally.statuses[status] += 1
        if status == "400" and _refused.decode(body).code == "BAD_EVENT_QUEUE_ID":
            self._queue = b""
            self._leave()
            self.come(FIRST_WAIT)
            return
        self._fail(_retry_after(head))

    def _take(self, body: bytes) -> None:
        self._failures = 0
        if not self._is_polling:
            registered = _registered.decode(body)
            self._queue, self._last = registered.queue_id.encode(), registered.last_event_id
            self._tally.statuses["registered"] += 1
        else:
            events = _events.decode(body).events
            self._tally.heard += sum(event.type != "heartbeat" for event in events)
            self._tally.polls += 1
            self._tally.bytes += len(self._answer.head) + len(body)
            for event in events:
                self._last = max(self._last, event.id)
            if not self._is_back:
                self._is_back = True
                self._tally.waiting += 1
                self._tally.back.append(time.time())
                self._tally.statuses["back"] += 1
        self._ask()

    def _leave(self) -> None:
        if self._is_back:
            self._is_back = False
            self._tally.waiting -= 1

    def _fail(self, told: float) -> None:
        self._leave()
        self._failures += 1
        if told:
            asyncio.get_running_loop().call_later(told * random.uniform(1.0, 1.25), self._begin)
        else:
            self.come(min(LONGEST_WAIT, FIRST_WAIT * 2 ** (self._failures - 1)))

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if not self._is_back:
            self._tally.statuses["lost"] += 1
        self._fail(0.0)
        if self._tally.is_resting:
            self._failures = 0


def _retry_after(head: bytes) -> float:
    at = head.lower().find(b"retry-after: ")
    return float(head[at + 13 : head.find(b"\r\n", at)]) if at > 0 else 0.0


async def _work() -> None:
    herd = msgspec.json.decode(sys.stdin.buffer.readline(), type=Herd)
    tally = _Tally()
    clients = [
        _Client(tally, herd.ports[number % len(herd.ports)], registration, poll)
        for number, (registration, poll) in enumerate(zip(herd.registrations, herd.polls, strict=True))
    ]
    while word := await asyncio.to_thread(sys.stdin.buffer.readline):
        if word == b"come\n":
            tally.is_resting = False
            for client in clients:
                client.come(FIRST_WAIT)
        elif word == b"rest\n":
            tally.is_resting = True
            for client in clients:
                client.rest()
            await asyncio.sleep(LONGEST_WAIT)  # nobody has a time to come back any more
        told = HerdNews(
            tally.waiting, dict(tally.statuses), tally.refused, sorted(tally.back), time.process_time(),
            tally.heard, tally.polls, tally.bytes,
        )  # fmt: skip
        tally.clear()
        sys.stdout.buffer.write(msgspec.json.encode(told) + b"\n")
        sys.stdout.buffer.flush()


def main() -> None:
    raise_open_files()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_work())


if __name__ == "__main__":
    main()
