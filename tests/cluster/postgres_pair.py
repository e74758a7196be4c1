"""A primary and a synchronous standby without Patroni: whoever tests is the operator who promotes.

The operator's rules: a standby is made by pg_basebackup with a physical slot; the primary waits for it
(`synchronous_standby_names`) and tells the relay nothing that it has not (`synchronized_standby_slots`). After a promotion the
new primary waits for nobody, until the old one has been made anew as its standby.
"""

import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import psycopg2

from tertulia.engines import ChildProcess, Postgres, find_wheel_postgres
from tertulia.engines.cluster import ADMIN, clean_environment
from tertulia.engines.postgres import DATABASE
from tertulia.engines.reach import reachable_cluster, reachable_programs
from tests.cluster.network import Network
from tests.cluster.templates import PASSWORD, on_node
from tests.system.faults import children

PORT = 5432
NODES = (1, 2)
SLOT = "tertulia_events"


class PostgresNode(Postgres):
    """One of the two."""

    def __init__(self, network: Network, number: int, folder: Path) -> None:
        bin_dir = find_wheel_postgres()
        assert bin_dir, "PostgreSQL's wheel is missing: run bin/setup"
        super().__init__(bin_dir, folder, port=PORT)
        self.number = number
        self.name = f"n{number}"
        self.network = network
        folder.mkdir(parents=True)
        folder.chmod(0o711)
        (folder / "password").write_text(PASSWORD)

    def url_of(self, database: str) -> str:
        return f"postgresql://{ADMIN}:{PASSWORD}@{self.network.home(self.number)}:{PORT}/{database}"

    def configure_locally(self) -> None:
        """What deploy/cluster/postgresql.conf says, over the defaults of `tertulia dev`."""
        text = self.network.seen_from(self.number, on_node("postgresql.conf", self.number))
        file = self.cluster / "local.conf"
        file.write_text(f"{text}\nmax_wal_size = '256MB'\nshared_buffers = '64MB'\n")
        shutil.chown(file, *self._owner())

    def prepare(self) -> None:
        """Make the folder and configure it."""
        if self._process is None:
            self._process = self._prepare()
        self.configure_locally()

    def start_standby(self) -> None:
        """Like `start`, which would make a database."""
        deadline = time.monotonic() + 60
        while not self._try_start(self.process, deadline):
            time.sleep(0.2)

    def copy_from(self, primary_address: str) -> None:
        """Become a standby of whoever answers there. What was here is gone."""
        assert self._process is None or not self.process.is_alive()
        shutil.rmtree(self.cluster, ignore_errors=True)
        self.cluster.mkdir(mode=0o700)
        shutil.chown(self.cluster, *self._owner())
        conninfo = f"host={primary_address} port={PORT} user={ADMIN} password={PASSWORD} dbname={DATABASE}"
        bin_dir = reachable_programs(self._bin_dir, self._account)
        place = str(reachable_cluster(self.cluster, self._account))
        command = [str(bin_dir / "pg_basebackup"), "-D", place, "-d", conninfo, "-X", "stream", "-c", "fast", "-R"]
        command += ["--slot", self.name]
        log = self.folder / "basebackup.log"
        copying = ChildProcess(command, log, env=clean_environment(), account=self._account, folder=self.cluster)
        copying.start()
        copying.wait(60)
        assert copying.exit_code == 0, log.read_text()[-2000:]
        auto = self.cluster / "postgresql.auto.conf"
        kept = [line for line in auto.read_text().splitlines() if not line.startswith(("synchron", "primary_"))]
        kept.append(f"primary_conninfo = '{conninfo} application_name={self.name}'")
        kept.append(f"primary_slot_name = '{self.name}'")
        auto.write_text("\n".join(kept) + "\n")
        self.prepare()
        self.start_standby()

    def crash(self) -> None:
        """All its processes at once, as when the machine fails."""
        pid = self.process.pid
        os.kill(pid, signal.SIGSTOP)  # it must not see its children die one by one
        for child in children(pid):
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.kill()

    def signal_all(self, number: signal.Signals) -> None:
        """To the server and all its processes: SIGSTOP as when the machine stands still."""
        for pid in [self.process.pid, *children(self.process.pid)]:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def ask(self, statement: str, *values: object, database: str = DATABASE) -> list[tuple[Any, ...]]:
        connection = psycopg2.connect(self.url_of(database), connect_timeout=5)
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute("set synchronous_commit = local")
                cursor.execute(statement, values)
                return cursor.fetchall() if cursor.description else []
        finally:
            connection.close()

    def _owner(self) -> tuple[int, int]:
        return (self._account.uid, self._account.gid) if self._account else (os.getuid(), os.getgid())


class PostgresPair:
    """Who is the primary is what the operator last decided."""

    nodes: list[PostgresNode]

    def __init__(self, network: Network, folder: Path) -> None:
        self.network = network
        self.nodes = [PostgresNode(network, number, folder / f"pg{number}") for number in NODES]
        self.primary, self.standby = self.nodes
        for one in NODES:
            for other in NODES:
                network.join(one, other, PORT)

    def start(self) -> None:
        self.primary.prepare()
        self.primary.start()
        self._follow()

    def stop(self) -> None:
        for node in (self.primary, self.standby):
            if node._process is not None:
                node.signal_all(signal.SIGCONT)
                node.stop()

    def addresses(self, source: int) -> str:
        hosts = ",".join(f"{self.network.address(source, number)}:{PORT}" for number in NODES)
        return f"postgresql://{ADMIN}:{PASSWORD}@{hosts}/{DATABASE}?target_session_attrs=primary"

    def join(self, source: int) -> None:
        for number in NODES:
            self.network.join(source, number, PORT)

    @property
    def url(self) -> str:
        """Of the primary, past all links."""
        return self.primary.url

    def promote(self) -> None:
        """The standby becomes the primary, and waits for nobody. Whether the old one still runs is the caller's business."""
        self.primary, self.standby = self.standby, self.primary
        self.primary.ask("select pg_promote(true, 30)")

    def rejoin(self) -> None:
        """The old primary is made anew as a standby."""
        if self.standby._process is not None and self.standby.process.is_alive():
            self.standby.signal_all(signal.SIGCONT)
            self.standby.crash()
        self._follow()

    def mend(self) -> None:
        for node in self.nodes:
            node.signal_all(signal.SIGCONT)
        if not self.primary.process.is_alive():
            self.primary.start()
        if not self.standby.process.is_alive():
            self.standby.start_standby()

    def await_slot(self, seconds: float = 60) -> None:
        """Until the standby has a copy of the relay's slot that a promotion can use."""
        ready = "select synced and not temporary and invalidation_reason is null from pg_replication_slots where slot_name = %s"
        deadline = time.monotonic() + seconds
        while self.standby.ask(ready, SLOT) != [(True,)]:
            assert time.monotonic() < deadline, "the standby has no copy of the slot"
            self.primary.ask("select pg_log_standby_snapshot()")
            time.sleep(0.3)

    def _follow(self) -> None:
        name = self.standby.name
        known = self.primary.ask("select 1 from pg_replication_slots where slot_name = %s", name)
        if not known:
            self.primary.ask("select pg_create_physical_replication_slot(%s, true)", name)
        self.standby.copy_from(self.network.address(self.standby.number, self.primary.number))
        self._await_streaming()
        self.primary.ask(f"alter system set synchronous_standby_names = '{name}'")
        self.primary.ask(f"alter system set synchronized_standby_slots = '{name}'")
        self.primary.ask("select pg_reload_conf()")

    def _await_streaming(self) -> None:
        deadline = time.monotonic() + 30
        asked = "select 1 from pg_stat_replication where application_name = %s and state = 'streaming'"
        while not self.primary.ask(asked, self.standby.name):
            assert time.monotonic() < deadline, "the standby does not follow"
            time.sleep(0.1)
