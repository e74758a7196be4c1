"""Run a PostgreSQL server in a folder of its own.

The folder holds `cluster` (PostgreSQL's), `password` and `postgres.log`. Restart and crash are everyday: a start
waits for what an earlier server left behind, recovers, and listens on the same port as before.
"""

import os
import signal
import time
from pathlib import Path

import psycopg2

from tertulia.engines.account import engine_account
from tertulia.engines.cluster import TRIAL, Purpose, clean_environment, configure, make_cluster
from tertulia.engines.errors import EngineFailed
from tertulia.engines.find import postgres_version
from tertulia.engines.ports import free_port
from tertulia.engines.process import ChildProcess
from tertulia.engines.reach import reachable_cluster, reachable_programs
from tertulia.engines.running import Running
from tertulia.engines.secret import secret_in

_LEFTOVER_SECONDS = 15.0


class Postgres(Running):
    name = "postgres"

    def __init__(
        self,
        bin_dir: Path,
        folder: Path,
        *,
        port: int | None = None,
        purpose: Purpose = TRIAL,
    ) -> None:
        self.folder = folder.absolute()
        self.cluster = self.folder / "cluster"
        self.log = self.folder / "postgres.log"
        self.port = port or free_port()
        self._may_move = port is None
        self._purpose = purpose
        self._account = engine_account()
        self._bin_dir = bin_dir
        self._process: ChildProcess | None = None

    @property
    def url(self) -> str:
        return self.url_of(self._purpose.database or "postgres")

    def url_of(self, database: str) -> str:
        return f"postgresql://{self._purpose.admin}:{self._password()}@127.0.0.1:{self.port}/{database}"

    @property
    def process(self) -> ChildProcess:
        if self._process is None:
            raise RuntimeError("PostgreSQL was not started")
        return self._process

    def start(self) -> None:
        """Start and return when it answers. The first start makes the cluster and the database."""
        if self._process is None:
            self._process = self._prepare()
        self._await_predecessor()
        deadline = time.monotonic() + self._purpose.ready_seconds
        while not self._try_start(self._process, deadline):
            time.sleep(0.2)
        self._may_move = False
        if self._purpose.database is not None:
            self._make_database(self._purpose.database)

    def stop(self) -> None:
        """The fast way: open transactions are rolled back, a checkpoint is written."""
        if self._process is not None and self._process.is_alive():
            self._process.send_signal(signal.SIGINT)
            if not self._process.wait(20):
                self._process.stop(signal.SIGQUIT, 10)

    def kill(self) -> None:
        self.process.kill()

    def restart(self) -> None:
        self.stop()
        self.start()

    def _prepare(self) -> ChildProcess:
        self.folder.mkdir(mode=0o711, parents=True, exist_ok=True)
        bin_dir = reachable_programs(self._bin_dir, self._account)
        if not (self.cluster / "PG_VERSION").exists():
            make_cluster(bin_dir, self.cluster, self._purpose.admin, self._password(), self._account)
        self._check_version(bin_dir)
        return ChildProcess(
            [str(bin_dir / "postgres"), "-D", str(reachable_cluster(self.cluster, self._account))],
            self.log,
            env=clean_environment(),
            account=self._account,
            folder=self.cluster,
            death_signal=signal.SIGQUIT,  # ends within seconds whatever its clients do; the next start recovers
        )

    def _password(self) -> str:
        return secret_in(self.folder / "password")

    def _check_version(self, bin_dir: Path) -> None:
        made_by = (self.cluster / "PG_VERSION").read_text().strip()
        program = postgres_version(bin_dir)
        if made_by != str(program):
            raise EngineFailed(
                f"{self.cluster} was made by PostgreSQL {made_by}, but {bin_dir} is PostgreSQL {program}. "
                f"Set TERTULIA_POSTGRES_BIN to the programs of version {made_by}, or start afresh (deletes the data)."
            )

    def _await_predecessor(self) -> None:
        """A server of an earlier parent may still be on its way out; a reused process id must not look like one."""
        deadline = time.monotonic() + _LEFTOVER_SECONDS
        while (pid := self._recorded_pid()) is not None and _is_process(pid):
            if not _works_in(pid, self.cluster):
                self._disown(pid)
                return
            if time.monotonic() > deadline:
                raise EngineFailed(f"PostgreSQL already runs in {self.cluster} (process {pid}). Stop that one first.")
            time.sleep(0.1)

    def _recorded_pid(self) -> int | None:
        try:
            return int((self.cluster / "postmaster.pid").read_text().split("\n", 1)[0])
        except (FileNotFoundError, ValueError):
            return None

    def _disown(self, pid: int) -> None:
        # PostgreSQL never takes its own parent for a rival. Keeping the rest of the file keeps its check for
        # orphaned backends that still use the shared memory; deleting the file would disable it.
        path = self.cluster / "postmaster.pid"
        path.write_text(path.read_text().replace(str(pid), str(os.getpid()), 1))

    def _try_start(self, process: ChildProcess, deadline: float) -> bool:
        configure(self.cluster, self.port, self._purpose.more)
        mark = self.log.stat().st_size if self.log.exists() else 0
        process.start()
        while process.is_alive() and time.monotonic() < deadline:
            if self._is_ready(process.pid):
                return True
            time.sleep(0.02)
        process.stop(signal.SIGQUIT)
        said = self.log.read_bytes()[mark:].decode(errors="replace")
        if "pre-existing shared memory block" in said and time.monotonic() < deadline:
            return False  # backends of a killed server are still ending
        if "could not bind" in said and self._may_move:
            self.port = free_port()
            return False
        raise EngineFailed(f"PostgreSQL did not start; its log is {self.log}:\n{said[-2000:].strip()}")

    def _is_ready(self, pid: int) -> bool:
        try:
            lines = (self.cluster / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return False
        return len(lines) > 7 and lines[0] == str(pid) and lines[7].strip() == "ready"

    def _make_database(self, name: str) -> None:
        connection = psycopg2.connect(self.url_of("postgres"))
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute("select from pg_database where datname = %s", (name,))
                if cursor.rowcount == 0:
                    cursor.execute(f"create database {name}")
        finally:
            connection.close()


def _is_process(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _works_in(pid: int, folder: Path) -> bool:
    """Whether that process is a server of this folder: PostgreSQL makes it its working directory."""
    try:
        return Path(f"/proc/{pid}/cwd").samefile(folder)
    except FileNotFoundError:
        return not Path("/proc/self").exists()  # without /proc: believe the file
    except OSError:
        return False
