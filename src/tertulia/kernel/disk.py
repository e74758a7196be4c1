"""How much room there is on a disk, and when that is too little."""

import os
import shutil
from pathlib import Path
from typing import Final, NamedTuple

from tertulia.kernel.settings import Settings

ROOM_BYTES: Final = 2 * 2**30
ROOM_PERCENT: Final = 5


class Room(NamedTuple):
    """On the disk of a folder."""

    place: Path
    """The folder, or as much of its path as there is."""
    free: int
    total: int

    @classmethod
    def of(cls, folder: str) -> "Room":
        """As it is now; the folder need not be there yet."""
        place = Path(folder).absolute()
        while not (place.exists() and os.access(place, os.X_OK)) and place != place.parent:
            place = place.parent
        usage = shutil.disk_usage(place)
        return cls(place, usage.free, usage.total)


def room_of_files(settings: Settings) -> Room | None:
    """On the disk of the files; None: they are not on a disk of this machine."""
    if settings.s3_bucket or not settings.storage_folder:
        return None
    return Room.of(settings.storage_folder)


def percent_free(free: int, total: int) -> float:
    """Of all (pure)."""
    return 100 * free / max(1, total)


def is_nearly_full(free: int, total: int) -> bool:
    """Whether somebody should do something about it (pure)."""
    return free < ROOM_BYTES and percent_free(free, total) < ROOM_PERCENT
