"""What processes use: CPU seconds and memory, read from the kernel, the children of PostgreSQL included."""

import os
import re
import time
from collections.abc import Mapping
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")
_SOCKET = re.compile(r"socket:\[(\d+)\]")


def cpu_seconds(pid: int) -> float:
    """User and system time of a process, its ended children, and its living ones."""
    total = own_cpu_seconds(pid) + _ended_children(pid)
    for child in _children(pid):
        total += own_cpu_seconds(child) + _ended_children(child)
    return total


def own_cpu_seconds(pid: int) -> float:
    """Of all its threads, to the nanosecond; 0 if it is gone. /proc/PID/stat would tell hundredths of a second."""
    try:
        return time.clock_gettime((~pid << 3) | 2)  # as clock_getcpuclockid(3) makes it
    except OSError:
        return 0.0


def cpu_of(pids: Mapping[str, int]) -> dict[str, float]:
    return {name: cpu_seconds(pid) for name, pid in pids.items()}


def rss_bytes(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise LookupError(f"no VmRSS of {pid}")


def peak_bytes(pid: int) -> int:
    """The most memory that it has had since it began its program; LookupError if it is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        status = ""
    if found := re.search(r"^VmHWM:\s+(\d+)", status, re.MULTILINE):
        return int(found[1]) * 1024
    raise LookupError(f"no VmHWM of {pid}")


def ports_towards(pid: int, port: int) -> set[int]:
    """Its own ports of the connections that a process has to a port of this machine."""
    inodes = {match[1] for link in Path(f"/proc/{pid}/fd").iterdir() if (match := _SOCKET.match(_target(link)))}
    found = set()
    for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[9] in inodes and int(fields[2].rpartition(":")[2], 16) == port:
            found.add(int(fields[1].rpartition(":")[2], 16))
    return found


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except FileNotFoundError:  # closed meanwhile
        return ""


def _ended_children(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return sum(map(int, fields[13:15])) / _TICK  # cutime, cstime


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            found += map(int, (task / "children").read_text().split())
        except FileNotFoundError:
            continue
    return found
