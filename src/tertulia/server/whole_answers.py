"""An answer that is complete when it begins leaves in one write; a body that was cut off is read as far as it came.

uvicorn writes the head when the application sends it, and the body after that: two calls of the system and two packets
(docs/decisions/0140-the-cost-of-reading.md). Here the head waits for the body. If both are there, they are written together;
everything else goes uvicorn's own way, as soon as that is known: streamed answers, HEAD, answers without a length.

Once a client is gone, uvicorn says only that, and forgets what it has read: whoever sends a large file over a bad line would
send it again. Here what has arrived is given first.

And an answer may come after the application has returned (kernel/later.py).
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import structlog
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from tertulia.kernel.call import AsgiApp, Message
from tertulia.kernel.http import JSON_HEADERS
from tertulia.kernel.later import Line

log = structlog.get_logger()

JOINED_BYTES = 128 * 1024
"""A longer body is not copied to stand behind its head."""
_JSON_LINES = b"".join(b"%b: %b\r\n" % header for header in JSON_HEADERS)
_SPECIAL = frozenset((b"connection", b"transfer-encoding"))
_CONTROL = bytes({*range(32), 127} - set(b"\t\n\r"))
"""What no head has; ends of lines are counted."""


class WholeAnswer(Line):
    """The answer to one request. It is written here if it is whole."""

    __slots__ = ("_app", "_begun", "_cycle", "_gone", "_tasks", "_wait")

    def __init__(
        self,
        app: AsgiApp,
        cycle: RequestResponseCycle,
        tasks: set[asyncio.Task[None]],
        wait: Callable[[int], None],
    ) -> None:
        """`tasks`: those that the server waits for before it ends. `wait`: is told how much waits until the client has read what
        was written before."""
        self._app = app
        self._cycle = cycle
        self._tasks = tasks
        self._wait = wait
        self._begun: Message | None = None
        self._gone: Callable[[], None] | None = None
        """Whom to tell that the client has gone, if the answer comes later."""

    def begin(self) -> None:
        """The request's turn has come."""
        self._start(self._run())

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self) -> None:
        """Let the application answer. If it does not, the client is told that something failed."""
        cycle = self._cycle
        try:
            await self._app(cycle.scope, self._receive, self)  # type: ignore[arg-type]
        except BaseException as error:
            log.error("the application failed", exc_info=error)
            await self._fail()
        else:
            if self._gone is not None and not cycle.disconnected:
                return
            if not cycle.response_complete and not cycle.disconnected:
                log.error("the application gave no answer")
                await self._fail()
        cycle.on_response = _nothing

    async def _fail(self) -> None:
        cycle = self._cycle
        if cycle.response_started:
            cycle.transport.close()
        else:
            await cycle.send_500_response()

    def hold(self, gone: Callable[[], None]) -> None:
        """The application returns without an answer."""
        if self._cycle.disconnected:
            gone()
            self._gone = _nothing
        else:
            self._gone = gone
            self._cycle.flow.resume_reading()  # or nobody would notice that the client goes

    def lost(self) -> None:
        """The client has gone. uvicorn tells only the last request on the connection; those before it are ours to tell."""
        cycle = self._cycle
        if cycle.response_complete:
            return
        cycle.disconnected = True
        cycle.message_event.set()
        if self._gone is not None:
            self._gone()
            self._gone = cycle.on_response = _nothing

    def answer(self, begun: Message, body: bytes) -> None:
        """What was held is answered."""
        self._gone = _nothing
        cycle = self._cycle
        if cycle.flow.write_paused or not self._write(begun, body):
            self._start(self._answer_slowly(begun, body))
        else:
            cycle.on_response = _nothing

    async def _answer_slowly(self, begun: Message, body: bytes) -> None:
        try:
            await self(begun)
            await self({"type": "http.response.body", "body": body})
        finally:
            self._cycle.on_response = _nothing

    async def _receive(self) -> Message:
        cycle = self._cycle
        message: Message = await cycle.receive()  # type: ignore[assignment]
        if message["type"] == "http.disconnect" and cycle.body:
            arrived, cycle.body = bytes(cycle.body), bytearray()
            return {"type": "http.request", "body": arrived, "more_body": True}
        return message

    async def __call__(self, message: Message) -> None:
        """ASGI: what the application sends."""
        begun, cycle = self._begun, self._cycle
        if begun is None:
            if message["type"] == "http.response.start" and not cycle.response_started:
                self._begun = message
            else:
                await cycle.send(message)  # type: ignore[arg-type]
            return
        self._begun = None
        if message["type"] == "http.response.body" and not message.get("more_body"):
            if cycle.flow.write_paused and not cycle.disconnected:
                self._wait(len(message.get("body", b"")))
                await cycle.flow.drain()
            if self._write(begun, message.get("body", b"")):
                return
        await cycle.send(begun)  # type: ignore[arg-type]
        await cycle.send(message)  # type: ignore[arg-type]

    def _write(self, begun: Message, body: bytes) -> bool:
        """Write a whole answer as uvicorn would; whether it is one."""
        cycle = self._cycle
        if cycle.disconnected or cycle.response_started or cycle.scope["method"] == "HEAD":
            return False
        own = headers = begun["headers"]
        lines = [STATUS_LINE[begun["status"]], *[b"%b: %b\r\n" % header for header in cycle.default_headers]]
        if headers[: len(JSON_HEADERS)] == JSON_HEADERS:  # nearly always, and the same objects
            lines.append(_JSON_LINES)
            own = headers[len(JSON_HEADERS) :]
        if (b"content-length", b"%d" % len(body)) not in own or any(name in _SPECIAL for name, _ in own):
            return False
        lines += [b"%b: %b\r\n" % header for header in own]
        if not cycle.keep_alive:
            lines.append(b"connection: close\r\n")
        lines.append(b"\r\n")
        head = b"".join(lines)
        ends = len(cycle.default_headers) + len(headers) + (2 if cycle.keep_alive else 3)
        if not head.count(b"\n") == head.count(b"\r") == ends or head != head.translate(None, _CONTROL):
            return False  # a value that would begin a line of its own, or worse: uvicorn refuses it
        cycle.response_started = cycle.response_complete = True
        cycle.waiting_for_100_continue = False
        if len(body) > JOINED_BYTES:
            cycle.transport.writelines((head, body))
        else:
            cycle.transport.write(head + body)
        if cycle.flow.write_paused:  # what the system took of it is in our memory until the rest is gone
            self._wait(len(head) + len(body) - cycle.transport.get_write_buffer_size())
        cycle.message_event.set()
        if not cycle.keep_alive:
            cycle.transport.close()
        cycle.on_response()
        return True


def _nothing() -> None:
    """Instead of what a cycle calls at its end: with that it and its connection would hold each other."""
