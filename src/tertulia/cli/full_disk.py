"""NATS after a full disk: a stream that could not be written once is not written again, whatever room there is, until nats-server
is started anew. Messages are stored and nobody hears of them meanwhile; so whoever keeps NATS up starts it again.

The disk is asked and not NATS, which answers every question as if nothing were wrong. One that had no room may have been lucky;
it is started again all the same, which queues outlive.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tertulia.cli.supervise import Supervisor
from tertulia.engines import Nats

LOOK_SECONDS: Final = 1.0
FULL_BYTES: Final = 16 * 1024 * 1024
"""Less than this may be nothing before the next look."""
ROOM_BYTES: Final = 2 * FULL_BYTES
"""As much again, so that a disk which stays at the border is not full over and over."""


class FullDisk:
    """Looks at the disk of NATS now and then (`tick`)."""

    def __init__(self, nats: Nats, supervisor: Supervisor, say: Callable[[str], None]) -> None:
        self._nats, self._supervisor, self._say = nats, supervisor, say
        self._was_full = False
        self._due = 0.0

    def tick(self) -> None:
        """Look if it is time."""
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + LOOK_SECONDS
        try:
            free = _free_bytes(self._nats.folder / "store")
        except OSError:  # it is not there yet, or its disk has another trouble
            return
        if free < FULL_BYTES and not self._was_full:
            self._was_full = True
            self._say(f"the disk of NATS is full ({self._nats.folder}): nobody hears of new messages until it has room")
        elif free >= ROOM_BYTES and self._was_full:
            self._was_full = False
            self._say("the disk of NATS has room again")
            self._supervisor.replace(lambda service: service is self._nats)


def _free_bytes(folder: Path) -> int:
    disk = os.statvfs(folder)
    takes_files = disk.f_favail > 0 or disk.f_files == 0  # some file systems do not count them
    return disk.f_bavail * disk.f_frsize if takes_files else 0
