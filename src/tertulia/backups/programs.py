"""pg_dump and pg_restore as child processes: the password is in their environment, never among their arguments."""

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import psycopg2.extensions

from tertulia.backups.errors import BackupFailed
from tertulia.backups.snapshot import LOCK_SECONDS, DatabaseSession
from tertulia.engines import dying_with_us

GRACE_SECONDS = 0.5
_TOLD = 1500


class Running:
    """One of the two programs, and what it says."""

    def __init__(self, name: str, process: "subprocess.Popen[bytes]", log: IO[bytes]) -> None:
        self._name = name
        self.process = process
        self._log = log

    @property
    def stdout(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    @property
    def stdin(self) -> IO[bytes]:
        assert self.process.stdin is not None
        return self.process.stdin

    def finish(self) -> None:
        """Wait for its end; BackupFailed with its words if it went wrong."""
        if self.process.wait() != 0:
            raise BackupFailed(f"{self._name}: {self.words() or 'it was killed'}")

    def check_alive(self) -> None:
        """After a broken pipe: if the program has given up, its own words say why."""
        try:
            code = self.process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            return
        if code:
            self.finish()

    def words(self) -> str:
        self._log.seek(0)
        said = self._log.read().decode(errors="replace").strip()
        return _advised(" ".join(said.split())[:_TOLD])


def dump_command(folder: Path, snapshot: str) -> list[str]:
    """Owners and comments stay out: whoever restores owns everything. Rights of others stay in."""
    return [
        str(folder / "pg_dump"),
        "--format=custom",
        "--no-owner",
        "--no-comments",
        "--no-password",
        f"--snapshot={snapshot}",
        f"--lock-wait-timeout={LOCK_SECONDS * 1000}",
    ]


def restore_command(folder: Path) -> list[str]:
    """One transaction: all of it or nothing."""
    return [
        str(folder / "pg_restore"),
        "--single-transaction",
        "--exit-on-error",
        "--no-owner",
        "--no-comments",
        "--no-password",
    ]


@contextmanager
def running(command: Sequence[str], session: DatabaseSession, url: str, **pipes: Any) -> Iterator[Running]:
    """Run a program on the same server and database as the session. Whoever leaves by an exception ends it, and so does whoever
    is killed: a restore that goes on by itself would be in the way of the next."""
    address, password = _address(session, url)
    environment = os.environ | {"PGAPPNAME": "tertulia backup"} | ({"PGPASSWORD": password} if password else {})
    with tempfile.TemporaryFile() as log:
        tied = dying_with_us([*command, f"--dbname={address}"])
        process = subprocess.Popen(tied, stderr=log, env=environment, **pipes)
        try:
            yield Running(Path(command[0]).name, process, log)
        finally:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    try:
                        pipe.close()
                    except BrokenPipeError:
                        pass


def _address(session: DatabaseSession, url: str) -> tuple[str, str]:
    """Of the host that the session found, without the password; and the password."""
    parts = psycopg2.extensions.parse_dsn(url)
    password = parts.pop("password", "")
    parts.pop("hostaddr", None)
    info = session.connection.info
    return psycopg2.extensions.make_dsn(**{**parts, "host": info.host, "port": info.port}), password


def _advised(text: str) -> str:
    if "role" in text and "does not exist" in text:
        return f"{text} -- the archive gives rights to that role: create it first (create role NAME)"
    if "extension" in text:
        return f"{text} -- install PostgreSQL's contrib package, or let a superuser create the extension first"
    return text
