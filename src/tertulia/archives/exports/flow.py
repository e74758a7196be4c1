"""Between whoever writes an archive and the store that takes it: pieces pass through, and none waits on a disk."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from typing import TypeVar

T = TypeVar("T")
PIECE = 1024 * 1024
"""What is written is handed on when it is so much."""


class Flow:
    """An `Outlet` whose other end is an iterator. Who writes waits until the piece before is taken."""

    def __init__(self) -> None:
        self._pieces: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._written: list[bytes] = []
        self._size = 0
        self._error: Exception | None = None

    def write(self, data: bytes) -> int:
        """Kept until the next `drain`."""
        self._written.append(data)
        self._size += len(data)
        return len(data)

    async def drain(self) -> None:
        """Hand on what was written, if it is enough."""
        if self._size >= PIECE:
            await self._hand_on()

    async def filled_by(self, writing: Awaitable[T]) -> T:
        """Write all of it. The other end sees the end, or the error, and so stores all of it or nothing."""
        try:
            made = await writing
            await self._hand_on()
        except Exception as error:
            self._error = error
            raise
        finally:
            self._pieces.put_nowait(None)
        return made

    async def pieces(self) -> AsyncIterator[bytes]:
        """The other end."""
        while (piece := await self._pieces.get()) is not None:
            yield piece
            self._pieces.task_done()
        if self._error is not None:
            raise self._error

    async def _hand_on(self) -> None:
        self._pieces.put_nowait(b"".join(self._written))
        self._written, self._size = [], 0
        await self._pieces.join()
