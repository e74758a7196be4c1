"""A way to an engine that can be frozen: nothing moves and nothing is closed, as when a machine vanishes or a cable is pulled.

Or one that is long: whatever is sent arrives so much later, in either direction. Or one on which an answer changes: an engine
says that it is another one than it is.
"""

import asyncio
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit


class Forwarder:
    """Passes TCP connections on, in a thread of its own."""

    def __init__(self, url: str, *, delay: float = 0.0, changed: tuple[bytes, bytes] | None = None) -> None:
        """`changed`: what the engine says, and what arrives instead, of the same length."""
        assert changed is None or len(changed[0]) == len(changed[1])
        self._parts = urlsplit(url)
        self._changed = changed
        self._delay = delay
        self._loop = asyncio.new_event_loop()
        self._moving = asyncio.Event()
        self._moving.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: set[asyncio.StreamWriter] = set()
        """Those who have asked, and are not answered yet."""
        self._thread = threading.Thread(target=self._loop.run_forever)
        self.port = 0
        self.round_trips = 0
        """How often somebody asked who had been answered before, or had not asked yet."""

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

    def turn_to(self, url: str) -> None:
        """As after a change of a proxy: new connections go there, and those that there are end."""

        def turn() -> None:
            self._parts = urlsplit(url)
            for task in tuple(self._tasks):
                task.cancel()

        self._loop.call_soon_threadsafe(turn)

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
            to_engine = _pump(_Late(reader, self._delay), back, moving, lambda: self._asks(writer))
            from_engine = _pump(
                _Late(there, self._delay), writer, moving, lambda: self._waiting.discard(writer), self._changed
            )
            await asyncio.gather(to_engine, from_engine)
        except OSError:
            pass  # one of the two hung up
        finally:
            for open_one in writers:
                open_one.transport.abort()

    def _asks(self, writer: asyncio.StreamWriter) -> None:
        if writer not in self._waiting:
            self._waiting.add(writer)
            self.round_trips += 1

    async def _end(self) -> None:
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0.1)  # until the loop has closed what was aborted


class _Late:
    """What comes out of a long way, in the order it went in."""

    def __init__(self, reader: asyncio.StreamReader, delay: float) -> None:
        self._reader = reader
        self._delay = delay
        self._under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        self._reading = asyncio.create_task(self._read()) if delay else None

    async def read(self) -> bytes:
        if self._reading is None:
            return await self._reader.read(65536)
        due, data = await self._under_way.get()
        await asyncio.sleep(due - asyncio.get_running_loop().time())
        return data

    async def _read(self) -> None:
        data = b"something"
        while data:
            try:
                data = await self._reader.read(65536)
            except OSError:
                data = b""
            self._under_way.put_nowait((asyncio.get_running_loop().time() + self._delay, data))


async def _pump(
    reader: _Late,
    writer: asyncio.StreamWriter,
    moving: asyncio.Event,
    tell: Callable[[], object],
    changed: tuple[bytes, bytes] | None = None,
) -> None:
    while data := await reader.read():
        await moving.wait()
        tell()
        writer.write(data if changed is None else data.replace(*changed))
        await writer.drain()
    await moving.wait()
    writer.close()
