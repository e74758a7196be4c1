"""A crowd in a process of its own: requests at a given rate, whether or not the server keeps up, and people who listen meanwhile.

The parent gives it a `Crowd` on standard input and gets a `Story` on standard output. Whoever asks waits for no one, so the rate
does not fall when the server is slow. Each connection carries one request at a time; if none is free when one is due, a person
would wait as well, and the request is counted as `late`. Listeners poll all the time and check what they hear: each message once,
those of a conversation in their order, and at the end every one that the server acknowledged.
"""

import asyncio
import collections
import itertools
import subprocess
import sys
import time
from collections.abc import Callable
from typing import cast

import msgspec
import uvloop

from bench.http_bytes import Answer
from bench.load import ROOT, raise_open_files

NUMBER = b"crowd00000000"
"""Where a request says this, it says another number each time."""
TICK = 0.005
LAST_WORDS_SECONDS = 30.0
"""How long the listeners may take, at the end, to have heard everything."""


class Asker(msgspec.Struct):
    kind: str
    request: bytes


class Crowd(msgspec.Struct):
    port: int
    requests: list[Asker]
    """In turn, whoever's connection is free."""
    listeners: list[bytes]
    """How each begins: the head of its requests, without the first line."""
    connections: int
    phases: list[tuple[float, float]]
    """So many requests a second, for so many seconds, one after the other."""


class Told(msgspec.Struct, array_like=True):
    """One answer."""

    asked: float
    """Seconds from the beginning."""
    took: float
    status: int
    kind: str


class Story(msgspec.Struct):
    answers: list[Told] = []
    acknowledged: list[tuple[int, int]] = []
    """Of each message that was answered with success: its number, and its id."""
    late: int = 0
    without_retry_after: int = 0
    """Of those with status 503."""
    lost: int = 0
    unanswered: int = 0
    heard: int = 0
    delays: list[float] = []
    """From each request that sent a message to the event of it, with whoever listens first."""
    polls_refused: int = 0
    problems: list[str] = []


def run_crowd(crowd: Crowd) -> Story:
    done = subprocess.run(
        [sys.executable, "-m", "tests.system.crowd"],
        input=msgspec.json.encode(crowd),
        stdout=subprocess.PIPE,
        cwd=ROOT,
        check=True,
    )
    return msgspec.json.decode(done.stdout, type=Story)


class _Message(msgspec.Struct):
    id: int
    recipient_id: int
    content: str


class _Event(msgspec.Struct):
    id: int
    message: _Message | None = None


class _Reply(msgspec.Struct):
    """What of an answer matters here."""

    id: int = 0
    code: str = ""
    queue_id: str = ""
    last_event_id: int = -1
    events: list[_Event] = []


_decode = msgspec.json.Decoder(_Reply).decode
Done = Callable[[int, Answer], None]


class _Connection(asyncio.Protocol):
    def __init__(self, lose: Callable[[], None]) -> None:
        self._lose = lose
        self._answer = Answer()
        self._done: Done | None = None
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.WriteTransport, transport)

    def ask(self, request: bytes, done: Done) -> None:
        assert self._transport is not None
        self._done = done
        self._transport.write(request)

    async def answer(self, request: bytes) -> tuple[int, bytes, bytes]:
        """Status, head and body."""
        told: asyncio.Future[tuple[int, bytes, bytes]] = asyncio.get_running_loop().create_future()
        self.ask(request, lambda status, answer: told.set_result((status, answer.head, answer.body)))
        return await told

    def data_received(self, data: bytes) -> None:
        if self._answer.feed(data):
            done, self._done = self._done, None
            assert done is not None
            done(int(self._answer.head[9:12]), self._answer)
            self._answer.clear()

    def connection_lost(self, exc: Exception | None) -> None:
        self._lose()


class _Storm:
    """All who ask."""

    def __init__(self, crowd: Crowd, story: Story) -> None:
        self._crowd = crowd
        self._story = story
        self._free: collections.deque[_Connection] = collections.deque()
        self._numbers = itertools.count(1)
        self._turns = itertools.cycle(crowd.requests)
        self._began = 0.0
        self._asked: dict[bytes, float] = {}
        """When each message was sent that nobody has heard of."""

    def hear(self, content: bytes) -> None:
        if asked := self._asked.pop(content, 0.0):
            self._story.delays.append(time.perf_counter() - asked)

    async def run(self) -> None:
        for _ in range(self._crowd.connections):
            self._free.append(await _connect(self._crowd.port, self._story))
        self._began = start = time.perf_counter()
        for rate, seconds in self._crowd.phases:
            due = 0.0
            while (now := time.perf_counter()) < start + seconds:
                wanted = (now - start) * rate
                while due < wanted:
                    due += 1
                    self._ask()
                await asyncio.sleep(TICK)
            start += seconds
        deadline = time.perf_counter() + LAST_WORDS_SECONDS
        while self._busy and time.perf_counter() < deadline:
            await asyncio.sleep(0.05)
        self._story.unanswered = self._busy

    @property
    def _busy(self) -> int:
        return self._crowd.connections - len(self._free) - self._story.lost

    def _ask(self) -> None:
        if not self._free:
            self._story.late += 1
            return
        connection, asker, number = self._free.popleft(), next(self._turns), next(self._numbers)
        asked = time.perf_counter()

        def done(status: int, answer: Answer) -> None:
            now, story = time.perf_counter(), self._story
            story.answers.append(Told(asked - self._began, now - asked, status, asker.kind))
            if status == 503 and b"retry-after: " not in answer.head:
                story.without_retry_after += 1
            if status == 200 and asker.kind == "send":
                story.acknowledged.append((number, _decode(answer.body).id))
            self._free.append(connection)

        content = b"crowd%08d" % number
        if asker.kind == "send":
            self._asked[content] = asked
        connection.ask(asker.request.replace(NUMBER, content), done)


class _Listener:
    """One client that hears everything, and checks it."""

    def __init__(self, head: bytes, story: Story, tell: Callable[[bytes], None]) -> None:
        self._head = head
        self._story = story
        self._tell = tell
        self._newest: dict[int, int] = {}
        self.heard: set[int] = set()
        self.has_begun = asyncio.Event()

    async def run(self, port: int) -> None:
        connection = await _connect(port, self._story)
        registered = await self._ask(connection, "POST", "register?event_types=%5B%22message%22%5D")
        self.has_begun.set()
        last = registered.last_event_id
        while True:
            reply = await self._ask(connection, "GET", f"events?queue_id={registered.queue_id}&last_event_id={last}")
            if reply.code:
                self._story.problems.append(f"a poll was answered {reply.code}")
                return
            for event in reply.events:
                if event.message is not None:
                    self._hear(event.message)
                last = max(last, event.id)

    async def _ask(self, connection: _Connection, method: str, path: str) -> _Reply:
        """Again and again while the server is too busy, as late as it asks for."""
        request = f"{method} /api/v1/{path} HTTP/1.1\r\n".encode() + self._head
        while True:
            status, head, body = await connection.answer(request)
            if status != 503:
                return _decode(body)
            self._story.polls_refused += 1
            at = head.find(b"retry-after: ") + 13
            await asyncio.sleep(float(head[at : head.find(b"\r\n", at)]))

    def _hear(self, message: _Message) -> None:
        self._story.heard += 1
        if message.id <= self._newest.get(message.recipient_id, 0):
            self._story.problems.append(f"message {message.id} was heard again, or too late")
        self._newest[message.recipient_id] = message.id
        self.heard.add(message.id)
        self._tell(message.content.encode())


async def _connect(port: int, story: Story) -> _Connection:
    def lose() -> None:
        story.lost += 1

    _, connection = await asyncio.get_running_loop().create_connection(lambda: _Connection(lose), "127.0.0.1", port)
    return connection


async def _live(crowd: Crowd) -> Story:
    story = Story()
    storm = _Storm(crowd, story)
    listeners = [_Listener(head, story, storm.hear) for head in crowd.listeners]
    listening = [asyncio.create_task(one.run(crowd.port)) for one in listeners]
    await asyncio.gather(*(one.has_begun.wait() for one in listeners))
    await storm.run()
    promised = {message for _, message in story.acknowledged}
    deadline = time.perf_counter() + LAST_WORDS_SECONDS
    while any(promised - one.heard for one in listeners) and time.perf_counter() < deadline:
        await asyncio.sleep(0.2)
    for number, one in enumerate(listeners):
        if missing := promised - one.heard:
            story.problems.append(f"listener {number} never heard {len(missing)} of {len(promised)} messages")
    lost = story.lost
    for task in listening:
        task.cancel()
    await asyncio.gather(*listening, return_exceptions=True)
    story.lost = lost
    return story


def main() -> None:
    raise_open_files()
    crowd = msgspec.json.decode(sys.stdin.buffer.read(), type=Crowd)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        sys.stdout.buffer.write(msgspec.json.encode(runner.run(_live(crowd))))


if __name__ == "__main__":
    main()
