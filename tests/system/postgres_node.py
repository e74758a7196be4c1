"""A PostgreSQL server that is one of several, as they would run on machines of their own: a primary, or a standby of it that may
be promoted. The sites of the relay's tests (pair_site.py) and the cluster (tests/cluster/postgres_pair.py) are made of these.

From 17 on the standbys keep a copy of the relay's slot, and the primary shows the relay only what they have
(`synchronized_standby_slots`). What the primary waits for before it answers a commit, each test says.
"""

import os
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import psycopg2

from tertulia.engines import ChildProcess, Postgres
from tertulia.engines.cluster import ADMIN, clean_environment
from tertulia.engines.find import postgres_version
from tertulia.engines.reach import reachable_cluster, reachable_programs
from tests.system.faults import children

SLOTS_ARE_SYNCHRONISED_SINCE = 17


class Asked(Protocol):
    """Who answers statements."""

    def ask(self, statement: str, *values: object) -> list[tuple[Any, ...]]: ...


class Node(Postgres):
    """One server, with settings of its own."""

    def __init__(self, bin_dir: Path, folder: Path, port: int) -> None:
        super().__init__(bin_dir, folder, port=port)
        self.version = postgres_version(bin_dir) or 0

    @property
    def password(self) -> str:
        return (self.folder / "password").read_text().strip()

    def set(self, **settings: str) -> None:
        """Replace the settings of this node; they hold from the next start or `reload`."""
        self.write_settings("".join(f"{name} = '{value}'\n" for name, value in settings.items()))

    def write_settings(self, text: str) -> None:
        path = self.cluster / "local.conf"
        path.write_text(text)
        self._give(path)

    def reload(self, **settings: str) -> None:
        self.set(**settings)
        self.ask("select pg_reload_conf()")

    def ask(self, statement: str, *values: object, database: str = "postgres") -> list[tuple[Any, ...]]:
        """The rows; it waits for no standby."""
        connection = psycopg2.connect(self.url_of(database), connect_timeout=5)
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute("set synchronous_commit = local")
                cursor.execute(statement, values or None)
                return cursor.fetchall() if cursor.description else []
        finally:
            connection.close()

    def source(self, host: str) -> str:
        """Where it is, for the `primary_conninfo` of those who follow it."""
        return f"host={host} port={self.port} user={ADMIN} password={self.password} dbname=postgres"

    def copy_from(self, primary: "Node", host: str, name: str) -> str:
        """Become a copy of a running primary that is reached there, with a slot of this name. What was here is gone.

        Returns where the primary is, for `primary_conninfo`. The copy is a standby at its next start (`start_standby`).
        """
        if not primary.ask("select 1 from pg_replication_slots where slot_name = %s", name):
            primary.ask("select pg_create_physical_replication_slot(%s, true)", name)
        self.folder.mkdir(mode=0o711, parents=True, exist_ok=True)
        if primary.folder != self.folder:
            shutil.copy(primary.folder / "password", self.folder / "password")
        shutil.rmtree(self.cluster, ignore_errors=True)
        self.cluster.mkdir(mode=0o700)
        self._give(self.cluster)
        source = primary.source(host)
        program = str(reachable_programs(self._bin_dir, self._account) / "pg_basebackup")
        target = str(reachable_cluster(self.cluster, self._account))
        command = [program, "-D", target, "-d", source, "-S", name, "-X", "stream", "-c", "fast"]
        log = self.folder / "copy.log"
        copying = ChildProcess(command, log, env=clean_environment(), account=self._account, folder=self.cluster)
        copying.start()
        assert copying.wait(60), "the copy does not end"
        assert copying.exit_code == 0, log.read_text()[-2000:]
        (self.cluster / "standby.signal").touch()
        return f"{source} application_name={name}"

    def start_standby(self) -> None:
        """Like `start`, which would make a database."""
        if self._process is None:
            self._process = self._prepare()
        deadline = time.monotonic() + 60
        while not self._try_start(self._process, deadline):
            time.sleep(0.2)

    def promote(self) -> None:
        """As `pg_ctl promote` does it; returns when it takes writes."""
        assert self.ask("select pg_promote(true, 60)") == [(True,)]

    def crash(self) -> None:
        """All its processes at once, as when the machine fails."""
        pid = self.process.pid
        os.kill(pid, signal.SIGSTOP)  # it must not see its children die one by one
        for child in children(pid):
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        self.process.kill()

    def signal_all(self, number: signal.Signals) -> None:
        """To the server and all its processes: SIGSTOP as when the machine stands still."""
        for pid in [self.process.pid, *children(self.process.pid)]:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def _give(self, path: Path) -> None:
        """To the account that PostgreSQL runs as."""
        if self._account is not None:
            os.chown(path, self._account.uid, self._account.gid)


_SYNCED = (
    "select synced and not temporary and invalidation_reason is null from pg_replication_slots where slot_name = %s"
)


def await_synced_slot(primary: Asked, standby: Asked, slot: str, seconds: float = 60.0) -> None:
    """Until the standby has a copy of the slot that a promotion can use.

    PostgreSQL makes it usable when the primary's slot has come past what the standby began with: that takes a record of running
    transactions, which an idle primary writes seldom. And the standby looks every 30 s if nothing moved for a while; a signal
    to read its settings wakes it.
    """

    def is_synced() -> bool:
        if standby.ask(_SYNCED, slot) == [(True,)]:
            return True
        primary.ask("select pg_log_standby_snapshot()")
        standby.ask("select pg_reload_conf()")
        time.sleep(0.3)
        return False

    wait_until(is_synced, seconds)


def wait_until(ask: Callable[[], object], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not ask():
        assert time.monotonic() < deadline, "in vain"
        time.sleep(0.05)
