"""Decoding a picture in a process of its own: it may be killed, run out of memory or crash, and nothing else notices."""

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tertulia.content.pictures.fitting import NotAPicture, Picture
from tertulia.content.pictures.icons import AppIcons
from tertulia.content.pictures.shrinking import Shrunk

SECONDS = 30.0
_INHERITED = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "HOME")
"""No secret of ours is known there."""


async def shrink(source: Path, folder: Path, width: int, height: int) -> Shrunk:
    """Write `still.webp`, and `moving.webp` if it moves, into the folder. Whatever goes wrong: NotAPicture."""
    told = await _run("shrink", source, folder, width, height, folder=folder)
    return msgspec.json.decode(told, type=Shrunk)


async def fit(data: bytes, side: int) -> Picture:
    """As `fitting.fit`."""
    return msgspec.msgpack.decode(await _run("fit", side, data=data), type=Picture)


async def cover(data: bytes, sides: Sequence[int]) -> list[bytes]:
    """As `fitting.cover`."""
    return msgspec.msgpack.decode(await _run("cover", *sides, data=data), type=list[bytes])


async def within(data: bytes, width: int, height: int) -> bytes:
    """As `fitting.within`."""
    return msgspec.msgpack.decode(await _run("within", width, height, data=data), type=bytes)


async def app_icons(data: bytes) -> AppIcons:
    """As `icons.app_icons`."""
    return msgspec.msgpack.decode(await _run("icons", data=data), type=AppIcons)


async def _run(job: str, *arguments: object, data: bytes | None = None, folder: Path | None = None) -> bytes:
    """What the process prints (`__main__.py`); it gets the data as its standard input."""
    environment = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tertulia.content.pictures", job, *map(str, arguments)),
        stdin=asyncio.subprocess.DEVNULL if data is None else asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
        cwd=folder,
    )
    try:
        async with asyncio.timeout(SECONDS):
            told, trouble = await process.communicate(data)
    except TimeoutError:
        raise NotAPicture("it takes too long to read") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        reason = trouble.decode(errors="replace").strip().rpartition("\n")[2]
        raise NotAPicture(reason or f"reading it ended with {process.returncode}")
    return told
