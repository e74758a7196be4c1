"""A small file system in memory that can be filled. Only root may mount one."""

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import mkdtemp


class SmallDisk:
    """Takes the place of one folder of an engine that does not run at that moment."""

    def __init__(self, mebibytes: int) -> None:
        if os.geteuid() != 0:
            raise PermissionError("only root may mount a file system")
        self._place = Path(mkdtemp(prefix="tertulia-disk-"))  # where PostgreSQL's account can reach it
        command = ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "tertulia", str(self._place)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise OSError(done.stderr.strip())
        self._place.chmod(0o755)
        self._is_mounted = True
        self._taken: Path | None = None
        self._ballast = self._place / "ballast"

    def take(self, folder: Path) -> None:
        """What is in the folder moves here; its name leads here."""
        inside = self._place / "data"
        shutil.copytree(folder, inside, symlinks=True)
        _give(inside, folder.stat())
        for path, _, files in os.walk(folder):
            for name in ("", *files):
                source = Path(path) / name
                _give(inside / source.relative_to(folder), source.stat())
        shutil.rmtree(folder)
        folder.symlink_to(inside)
        os.chown(folder, inside.stat().st_uid, inside.stat().st_gid, follow_symlinks=False)
        self._taken = folder

    def give_back(self) -> None:
        """The folder is on its own disk again."""
        assert self._taken is not None
        folder, inside = self._taken, self._place / "data"
        folder.unlink()
        self._taken = None
        shutil.copytree(inside, folder, symlinks=True)
        for path, _, files in os.walk(inside):
            for name in ("", *files):
                source = Path(path) / name
                _give(folder / source.relative_to(inside), source.stat())
        self.unmount()

    @property
    def place(self) -> Path:
        """Where it is mounted."""
        return self._place

    def fill(self) -> None:
        """To the last byte."""
        with self._ballast.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1 << 20))
            except OSError:
                pass
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass

    def empty(self) -> None:
        self._ballast.unlink(missing_ok=True)

    def unmount(self) -> None:
        if self._is_mounted:
            self._is_mounted = False
            subprocess.run(["umount", "-l", str(self._place)], check=False)
            self._place.rmdir()


def _give(path: Path, owner: os.stat_result) -> None:
    os.chown(path, owner.st_uid, owner.st_gid)
    path.chmod(owner.st_mode & 0o7777)
