"""Temporary folders in memory, where there is room: what a test writes is thrown away minutes later, and a disk that others use
as well makes a start or a stop of a server wait for seconds."""

import os
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
ROOM = 6 * 2**30
"""Bytes: two suites or three at a time have some servers each, of about 100 MB."""
ON_DISK = tempfile.gettempdir()
"""For what takes gigabytes."""


def use_memory() -> None:
    """From now on, in this process, unless somebody has said where (TMPDIR)."""
    if "TMPDIR" not in os.environ and _has_room():
        tempfile.tempdir = str(MEMORY)


def _has_room() -> bool:
    try:
        found = os.statvfs(MEMORY)
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return False
    is_plain = not found.f_flag & (os.ST_NOEXEC | os.ST_NODEV | os.ST_RDONLY)
    available = next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), 0)
    return is_plain and min(found.f_bavail * found.f_frsize, available) > ROOM
