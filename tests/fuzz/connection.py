"""A connection that sends bytes as they are and reads one answer: nothing is tidied up on the way, and it is quick."""

import asyncio
from types import TracebackType
from typing import NamedTuple, Self

ANSWER_SECONDS = 100.0


class Answer(NamedTuple):
    status: int
    content_type: str
    body: bytes


class NoAnswer(Exception):
    """The server closed the connection, or said nothing for too long."""


class Connection:
    def __init__(self, host: str, port: int) -> None:
        self._host = host
        self._port = port
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    async def ask(self, request: bytes) -> Answer:
        """Send it and wait for the answer; a connection that was closed meanwhile is opened anew."""
        is_kept = self._writer is not None
        try:
            return await self._ask(request)
        except NoAnswer:
            if not is_kept:
                raise
            return await self._ask(request)

    async def _ask(self, request: bytes) -> Answer:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                if self._reader is None or self._writer is None:
                    self._reader, self._writer = await asyncio.open_connection(self._host, self._port, limit=1 << 20)
                self._writer.write(request)
                await self._writer.drain()
                return await self._answer(self._reader)
        except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
            self._close()
            raise NoAnswer(repr(error)) from error

    async def _answer(self, reader: asyncio.StreamReader) -> Answer:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        if fields.get("transfer-encoding") == "chunked":
            body = b""
            while size := int((await reader.readuntil(b"\r\n")).strip(), 16):
                body += (await reader.readexactly(size + 2))[:-2]
            await reader.readexactly(2)
        else:
            body = await reader.readexactly(int(fields.get("content-length", "0")))
        if fields.get("connection", "").lower() == "close":
            self._close()
        return Answer(int(head[0].split()[1]), fields.get("content-type", ""), body)

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None
