"""A way to an engine that can be frozen: nothing moves and nothing is closed, as when a machine vanishes or a cable is pulled."""

import asyncio
import threading
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit


class Forwarder:
    """Passes TCP connections on, in a thread of its own."""

    def __init__(self, url: str) -> None:
        self._parts = urlsplit(url)
        self._loop = asyncio.new_event_loop()
        self._moving = asyncio.Event()
        self._moving.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self.port = 0

    def __enter__(self) -> Self:
        self._thread.start()
        self.port = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    @property
    def host(self) -> str:
        """Host and port of this way."""
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """The engine's address by this way."""
        user, at, _ = self._parts.netloc.rpartition("@")
        return self._parts._replace(netloc=f"{user}{at}{self.host}").geturl()

    def freeze(self) -> None:
        """From now on nothing moves; new connections are taken, and nobody answers them."""
        self._loop.call_soon_threadsafe(self._moving.clear)

    def thaw(self) -> None:
        """All goes on as if nothing had been."""
        self._loop.call_soon_threadsafe(self._moving.set)

    def serve_new(self) -> None:
        """As after a promotion: new connections are passed on, the frozen ones stay so for ever."""

        def replace() -> None:
            self._moving = asyncio.Event()
            self._moving.set()

        self._loop.call_soon_threadsafe(replace)

    async def _listen(self) -> int:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._loop.create_task(self._pass(reader, writer, self._moving))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, moving: asyncio.Event) -> None:
        writers = [writer]
        try:
            await moving.wait()
            there, back = await asyncio.open_connection(self._parts.hostname, self._parts.port)
            writers.append(back)
            await asyncio.gather(_pump(reader, back, moving), _pump(there, writer, moving))
        except OSError:
            pass  # one of the two hung up
        finally:
            for open_one in writers:
                open_one.transport.abort()

    async def _end(self) -> None:
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0.1)  # until the loop has closed what was aborted


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, moving: asyncio.Event) -> None:
    while data := await reader.read(65536):
        await moving.wait()
        writer.write(data)
        await writer.drain()
    await moving.wait()
    writer.close()
