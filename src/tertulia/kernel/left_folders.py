"""Temporary folders with what people wrote in them: whoever is killed leaves theirs, and the next who comes deletes it."""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PREFIX = "tertulia-"
_KINDS = ("picture", "import", "verify")
_YOUNG_SECONDS = 60.0
"""A folder is taken by its maker right after it is there; and a program before this one takes none, for half a minute."""


@contextmanager
def temporary_folder(kind: str) -> Iterator[Path]:
    """For as long as this lasts. Nobody else deletes it: we hold it, and the kernel lets go of it when we die."""
    assert kind in _KINDS
    with tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{kind}-") as name:
        handle = os.open(name, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield Path(name)
        finally:
            os.close(handle)


def forget_left_folders() -> int:
    """Delete those that nobody holds: what is in them may have been deleted by people since, or was encrypted elsewhere."""
    count = 0
    for kind in _KINDS:
        for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}{kind}-*"):
            count += _forget(folder)
    return count


def _forget(folder: Path) -> bool:
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return False  # it is gone, or no folder of ours
    try:
        there = os.fstat(handle)
        # Others on this machine may call theirs the same.
        if there.st_uid != os.getuid() or there.st_mtime > time.time() - _YOUNG_SECONDS:
            return False
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    else:
        shutil.rmtree(folder, ignore_errors=True)
        return True
    finally:
        os.close(handle)
