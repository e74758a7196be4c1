"""What the machine itself leaves us: room on the disk, and files that may be open at once. Connections are files."""

import os
import resource
import shutil
from pathlib import Path

from tertulia.cli.doctor import Advice
from tertulia.kernel.settings import Settings

ROOM_BYTES = 2 * 2**30
ROOM_PERCENT = 5
OPEN_FILES = 4096
"""Each listening client is one, and some are needed besides."""


def look_at_machine(settings: Settings) -> str:
    """What holds; advice for what will not hold for long."""
    advice = [*_disk(settings), *_open_files()]
    if advice:
        raise Advice("; ".join(advice))
    return f"{_room(settings) / 2**30:,.0f} GiB free, {_most_files():,} open files allowed"


def _disk(settings: Settings) -> list[str]:
    usage = shutil.disk_usage(_place(settings))
    percent = 100 * usage.free / max(1, usage.total)
    if usage.free >= ROOM_BYTES or percent >= ROOM_PERCENT:
        return []
    told = f"the disk of {_place(settings)} is nearly full: {usage.free / 2**20:,.0f} MiB ({percent:.0f} %) are free"
    return [f"{told}. PostgreSQL and NATS stop when theirs is, and NATS does not come back by itself"]


def _open_files() -> list[str]:
    if (most := _most_files()) >= OPEN_FILES:
        return []
    return [
        f"a process may have {most} open files, and each client is one: set LimitNOFILE=65536 in the unit, or `ulimit -n`"
    ]


def _most_files() -> int:
    """Up to the hard limit: the server raises the other by itself."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 2**31 if hard == resource.RLIM_INFINITY else hard


def _room(settings: Settings) -> int:
    return shutil.disk_usage(_place(settings)).free


def _place(settings: Settings) -> Path:
    """Where files are kept, or will be."""
    folder = Path(settings.storage_folder).absolute()
    while not (folder.exists() and os.access(folder, os.X_OK)) and folder != folder.parent:
        folder = folder.parent
    return folder
