"""Shrinking a picture in a process of its own: it may be killed, run out of memory or crash, and nothing else notices."""

import asyncio
import os
import sys
from pathlib import Path

import msgspec

from tertulia.pictures.fitting import NotAPicture
from tertulia.pictures.shrinking import Shrunk

SECONDS = 30.0
_INHERITED = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "HOME")
"""No secret of ours is known there."""


async def shrink(source: Path, folder: Path, width: int, height: int) -> Shrunk:
    """Write `still.webp`, and `moving.webp` if it moves, into the folder. Whatever goes wrong: NotAPicture."""
    environment = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tertulia.pictures", source, folder, str(width), str(height)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
        cwd=folder,
    )
    try:
        async with asyncio.timeout(SECONDS):
            told, trouble = await process.communicate()
    except TimeoutError:
        raise NotAPicture("it takes too long to read") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        reason = trouble.decode(errors="replace").strip().rpartition("\n")[2]
        raise NotAPicture(reason or f"reading it ended with {process.returncode}")
    return msgspec.json.decode(told, type=Shrunk)
