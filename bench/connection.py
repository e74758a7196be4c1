"""One HTTP connection that stays open, inside a process that does other things as well."""

import asyncio
import time
from typing import cast

from bench.http_bytes import Answer


class Connection(asyncio.Protocol):
    """One HTTP connection; an answer is a future of its arrival time."""

    def __init__(self) -> None:
        self.answer = Answer()
        self.arrived: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.WriteTransport, transport)

    def ask(self, data: bytes) -> None:
        assert self._transport is not None
        self.answer.clear()
        self.arrived = asyncio.get_running_loop().create_future()
        self._transport.write(data)

    def data_received(self, data: bytes) -> None:
        if self.answer.feed(data):
            if not self.answer.is_success:
                self._fail(RuntimeError(self.answer.body.decode(errors="replace")))
            else:
                self.arrived.set_result(time.time())

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(exc or ConnectionError("the server closed a connection"))

    def close(self) -> None:
        assert self._transport is not None
        self._transport.close()

    def _fail(self, error: Exception) -> None:
        if not self.arrived.done():
            self.arrived.set_exception(error)
