"""A backup each night, made by `tertulia serve --standalone`, which has no timer of systemd beside it.

When the last good one was made is the time of a file, so that a night in which the machine was off is made up for. After a
failure it is tried again in an hour.
"""

import os
import shutil
import signal
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from tertulia.cli.supervise import OwnProcess
from tertulia.kernel.settings import Settings

AGAIN_SECONDS: Final = 3600.0
NICE: Final = "15"
"""It has time; people who talk have not."""


class NightlyBackup:
    """Look at it now and then (`tick`)."""

    def __init__(self, settings: Settings, folder: Path, say: Callable[[str], None]) -> None:
        self._at = settings.nightly_backup
        self._mark = folder / "last-backup"
        self._say = say
        self._not_before = 0.0
        self._is_under_way = False
        place = settings.backup_place or str(folder / "backups")
        keep = ["--keep-daily", str(settings.nightly_backup_days), "--keep-weekly", str(settings.nightly_backup_weeks)]
        secrecy = [] if settings.backup_recipients else ["--no-encryption"]
        command = OwnProcess("backup", settings, arguments=("backup", "make", place, *keep, *secrecy))
        if nice := shutil.which("nice"):
            command.process.command[:0] = [nice, "-n", NICE]
        self._process = command.process

    def tick(self) -> None:
        """Begin one if it is time, and see how one ended that is under way."""
        if self._is_under_way:
            self._look()
        elif self._at and time.monotonic() >= self._not_before and self._is_due():
            self._say("making a backup")
            self._process.start()
            self._is_under_way = True

    def stop(self) -> None:
        """One that is under way is given up: an archive is whole or not there."""
        self._process.stop(signal.SIGTERM, 5)

    def _is_due(self) -> bool:
        if not self._mark.exists():
            self._mark.touch()  # a new server: the first night is to come
        last = datetime.fromtimestamp(self._mark.stat().st_mtime).astimezone()
        return datetime.now().astimezone() >= next_night(last, self._at)

    def _look(self) -> None:
        if self._process.is_alive():
            return
        self._is_under_way = False
        if self._process.exit_code == 0:
            os.utime(self._mark)
        else:
            self._not_before = time.monotonic() + AGAIN_SECONDS
            self._say(f"the backup FAILED (exit code {self._process.exit_code}); trying again in an hour")


def next_night(last: datetime, at: str) -> datetime:
    """The first moment after `last` at which the clock shows `at`."""
    hour, minute = map(int, at.split(":"))
    found = last.replace(hour=hour, minute=minute, second=0, microsecond=0)
    return found if found > last else found + timedelta(days=1)
