"""Temporary folders in memory, where there is room: what a test writes is thrown away minutes later, and a disk that others use
as well makes a start or a stop of a server wait for seconds."""

import os
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
ROOM = 6 * 2**30
"""Bytes: two suites or three at a time have some servers each, of about 100 MB."""
ON_DISK = tempfile.gettempdir()


def use_memory() -> None:
    """From now on, in this process."""
    tempfile.tempdir = place_for(ROOM)


def place_for(room: int) -> str:
    """Where so many bytes may be written: in memory if there is that much of it, and nobody has said where (TMPDIR)."""
    return str(MEMORY) if "TMPDIR" not in os.environ and _has_room(room) else ON_DISK


def _has_room(room: int) -> bool:
    try:
        found = os.statvfs(MEMORY)
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return False
    is_plain = not found.f_flag & (os.ST_NOEXEC | os.ST_NODEV | os.ST_NOSUID | os.ST_RDONLY)
    available = next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), 0)
    return is_plain and min(found.f_bavail * found.f_frsize, available) > room
