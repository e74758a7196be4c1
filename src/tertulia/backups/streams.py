"""Between pieces that come asynchronously and libraries that read and write files: threads and pipes, so memory is bounded."""

import asyncio
import fcntl
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import IO

PIECE = 1 << 20


async def written_by(work: Callable[[IO[bytes]], None]) -> AsyncGenerator[bytes, None]:
    """The pieces of what `work` writes, in a thread of its own. Raises what it raises."""
    readable, writable = _pipe()

    def run() -> None:
        with os.fdopen(writable, "wb", buffering=PIECE) as target:
            work(target)

    task = asyncio.create_task(asyncio.to_thread(run))
    try:
        with os.fdopen(readable, "rb", buffering=0) as source:
            while chunk := await asyncio.to_thread(source.read, PIECE):
                yield chunk
    finally:
        await asyncio.wait([task])  # the pipe is closed: whoever still writes ends
        failed = task.exception()
    if failed is not None:
        raise failed


async def read_by(work: Callable[[IO[bytes]], None], chunks: AsyncIterator[bytes]) -> None:
    """Let `work` read these pieces, in a thread of its own. Raises what either of them raises."""
    readable, writable = _pipe()

    def run() -> None:
        with os.fdopen(readable, "rb", buffering=PIECE) as source:
            work(source)

    task = asyncio.create_task(asyncio.to_thread(run))
    try:
        with os.fdopen(writable, "wb", buffering=0) as target:
            async for chunk in chunks:
                await asyncio.to_thread(_write_all, target, chunk)
    except BrokenPipeError:
        pass  # the work has ended, and says why
    finally:
        await asyncio.wait([task])
        failed = task.exception()
    if failed is not None:
        raise failed


def _write_all(target: IO[bytes], chunk: bytes) -> None:
    left = memoryview(chunk)
    while left:
        left = left[target.write(left) :]


def _pipe() -> tuple[int, int]:
    readable, writable = os.pipe()
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        try:
            fcntl.fcntl(writable, fcntl.F_SETPIPE_SZ, PIECE)
        except OSError:
            pass  # it works with the usual 64 KiB, too
    return readable, writable
