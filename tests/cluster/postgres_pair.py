"""A primary and a synchronous standby without Patroni: whoever tests is the operator who promotes.

The operator's rules: a standby is made by pg_basebackup with a physical slot; the primary waits for it
(`synchronous_standby_names`) and tells the relay nothing that it has not (`synchronized_standby_slots`). After a promotion the
new primary waits for nobody, until the old one has been made anew as its standby.
"""

import signal
import time
from pathlib import Path

from tertulia.engines import find_wheel_postgres
from tertulia.engines.cluster import ADMIN, DATABASE
from tests.cluster.network import Network
from tests.cluster.templates import PASSWORD, on_node
from tests.system.postgres_node import Node, await_synced_slot

PORT = 5432
NODES = (1, 2)
SLOT = "tertulia_events"


class PostgresNode(Node):
    """One of the two, configured by deploy/cluster/postgresql.conf."""

    def __init__(self, network: Network, number: int, folder: Path) -> None:
        bin_dir = find_wheel_postgres()
        assert bin_dir, "PostgreSQL's wheel is missing: run bin/setup"
        super().__init__(bin_dir, folder, PORT)
        self.number = number
        self.name = f"n{number}"
        self.network = network
        folder.mkdir(parents=True)
        folder.chmod(0o711)
        (folder / "password").write_text(PASSWORD)

    def url_of(self, database: str) -> str:
        return f"postgresql://{ADMIN}:{PASSWORD}@{self.network.home(self.number)}:{PORT}/{database}"

    def prepare(self) -> None:
        """Make the folder and configure it: what the file says, over the defaults of `tertulia dev`."""
        if self._process is None:
            self._process = self._prepare()
        text = self.network.seen_from(self.number, on_node("postgresql.conf", self.number))
        self.write_settings(f"{text}\nmax_wal_size = '256MB'\nshared_buffers = '64MB'\n")

    def follow(self, primary: "PostgresNode") -> None:
        """Become a standby of it. What was here is gone."""
        assert self._process is None or not self.process.is_alive()
        source = self.copy_from(primary, self.network.address(self.number, primary.number), self.name)
        auto = self.cluster / "postgresql.auto.conf"
        kept = [line for line in auto.read_text().splitlines() if not line.startswith(("synchron", "primary_"))]
        kept += [f"primary_conninfo = '{source}'", f"primary_slot_name = '{self.name}'"]
        auto.write_text("\n".join(kept) + "\n")
        self.prepare()
        self.start_standby()


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
        self.primary.promote()

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
        await_synced_slot(self.primary, self.standby, SLOT, seconds)

    def _follow(self) -> None:
        name = self.standby.name
        self.standby.follow(self.primary)
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
