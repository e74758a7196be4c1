"""What the machine itself leaves us: room on the disk, and files that may be open at once. Connections are files."""

import resource

from tertulia.cli.doctor import Advice
from tertulia.kernel.disk import Room, is_nearly_full, percent_free
from tertulia.kernel.settings import Settings

OPEN_FILES = 4096
"""Each listening client is one, and some are needed besides."""


def look_at_machine(settings: Settings) -> str:
    """What holds; advice for what will not hold for long."""
    room = Room.of(settings.storage_folder)
    advice = [*_disk(room), *_open_files()]
    if advice:
        raise Advice("; ".join(advice))
    return f"{room.free / 2**30:,.0f} GiB free, {_most_files():,} open files allowed"


def _disk(room: Room) -> list[str]:
    if not is_nearly_full(room.free, room.total):
        return []
    percent = percent_free(room.free, room.total)
    told = f"the disk of {room.place} is nearly full: {room.free / 2**20:,.0f} MiB ({percent:.0f} %) are free"
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
