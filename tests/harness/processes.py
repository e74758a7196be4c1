"""What the system tells of processes, which may end while it is asked."""

from pathlib import Path

_GONE = (FileNotFoundError, ProcessLookupError)  # before the file is opened, and between that and reading it


def is_running(pid: int) -> bool:
    """Not one that is dead and waits to be noticed."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except _GONE:
        return False


def children(pid: int) -> list[int]:
    try:
        return [int(text) for text in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except _GONE:
        return []


def with_descendants(pid: int) -> list[int]:
    """Itself first; nothing if it is gone."""
    if not Path(f"/proc/{pid}").exists():
        return []
    return [pid, *(each for child in children(pid) for each in with_descendants(child))]


def arguments(pid: int) -> list[str]:
    """Nothing of one that is dead."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1]
    except _GONE:
        return []
