"""An answer that is complete when it begins leaves in one write; a body that was cut off is read as far as it came.

uvicorn writes the head when the application sends it, and the body after that: two calls of the system and two packets
(docs/decisions/0140-the-cost-of-reading.md). Here the head waits for the body. If both are there, they are written together;
everything else goes uvicorn's own way, as soon as that is known: streamed answers, HEAD, answers without a length.

Once a client is gone, uvicorn says only that, and forgets what it has read: whoever sends a large file over a bad line would
send it again. Here what has arrived is given first.
"""

from collections.abc import Awaitable

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from tertulia.kernel.call import AsgiApp, Message, Receive, Scope, Send

JOINED_BYTES = 128 * 1024
"""A longer body is not copied to stand behind its head."""
_SPECIAL = frozenset((b"connection", b"transfer-encoding"))
_CONTROL = bytes({*range(32), 127} - set(b"\t\n\r"))
"""What no head has; ends of lines are counted."""


class WholeAnswer:
    """The application, for one request. Its answer is written here if it is whole."""

    __slots__ = ("_app", "_begun", "_cycle")

    def __init__(self, app: AsgiApp, cycle: RequestResponseCycle) -> None:
        self._app = app
        self._cycle = cycle
        self._begun: Message | None = None

    def __call__(self, scope: Scope, _receive: Receive, _send: Send) -> Awaitable[None]:
        """ASGI. What is given to receive and to send with is the cycle's own."""
        return self._app(scope, self._receive, self._send)

    async def _receive(self) -> Message:
        cycle = self._cycle
        message: Message = await cycle.receive()  # type: ignore[assignment]
        if message["type"] == "http.disconnect" and cycle.body:
            arrived, cycle.body = bytes(cycle.body), bytearray()
            return {"type": "http.request", "body": arrived, "more_body": True}
        return message

    async def _send(self, message: Message) -> None:
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
        headers = [*cycle.default_headers, *begun["headers"]]
        names = {name for name, _ in headers}
        if (b"content-length", b"%d" % len(body)) not in headers or not names.isdisjoint(_SPECIAL):
            return False
        lines = [b"%b: %b\r\n" % header for header in headers]
        if not cycle.keep_alive:
            lines.append(b"connection: close\r\n")
        head = b"".join((STATUS_LINE[begun["status"]], *lines, b"\r\n"))
        if not head.count(b"\n") == head.count(b"\r") == len(lines) + 2 or head != head.translate(None, _CONTROL):
            return False  # a value that would begin a line of its own, or worse: uvicorn refuses it
        cycle.response_started = cycle.response_complete = True
        cycle.waiting_for_100_continue = False
        if len(body) > JOINED_BYTES:
            cycle.transport.writelines((head, body))
        else:
            cycle.transport.write(head + body)
        cycle.message_event.set()
        if not cycle.keep_alive:
            cycle.transport.close()
        cycle.on_response()
        return True
