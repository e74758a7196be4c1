"""The cluster that docs/how-to/high-availability.md describes, on one machine: three NATS nodes, PostgreSQL with a standby,
three web processes, two relays, two workers, and HAProxy in front. Each process is on a machine of its own (network.py), so
each way between two of them can be broken.

Calls are plain and blocking, and children are started from the main thread: whoever talks to the cluster meanwhile does so in
another thread (load.py).
"""

import os
import re
import shutil
import signal
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import httpx

from tertulia.engines import ChildProcess, free_port
from tertulia.engines.running import Running
from tests.cluster.nats_node import CLIENT, ROUTE, NatsNode, await_all
from tests.cluster.network import Link, Network
from tests.cluster.postgres_pair import PostgresPair
from tests.cluster.templates import PASSWORD, on_node, settings_of
from tests.harness.server import PLAIN_HTTP, is_ready

ENGINES = (1, 2, 3)
WEBS, RELAYS, WORKERS, FRONT = (11, 12, 13), (21, 22), (31, 32), 41
WEB_PORT, METRICS_PORT, FRONT_PORT = 9991, 9994, 9990


class Databases(Protocol):
    """PostgreSQL in one of its forms: a pair that a test promotes, or Patroni's three."""

    @property
    def url(self) -> str:
        """Of the primary now, past all links."""

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def mend(self) -> None:
        """Bring back what was killed or paused, and wait for it."""

    def await_slot(self, seconds: float = 60) -> None:
        """Until a standby that may be promoted has a usable copy of the relay's slot."""

    def join(self, source: int) -> None:
        """Make the links that a process there needs."""

    def addresses(self, source: int) -> str:
        """The `TERTULIA_POSTGRES_URL` of a process there."""


class Member(ChildProcess):
    """One process of Tertulia, on a machine of its own."""

    def __init__(self, cluster: "Cluster", role: str, machine: int) -> None:
        self.role = role
        self.machine = machine
        self.name = f"{role}{machine % 10}"
        home = cluster.network.home(machine)
        self.url = f"http://{home}:{WEB_PORT}"
        self.metrics = f"http://{home}:{METRICS_PORT}"
        own = {"TERTULIA_HOST": home, "TERTULIA_METRICS_HOST": home, "TERTULIA_METRICS_PORT": str(METRICS_PORT)}
        own["TERTULIA_POSTGRES_URL"] = cluster.databases.addresses(machine)
        self._own = os.environ | cluster.settings(machine) | own
        command = [sys.executable, "-m", "tertulia", role]
        super().__init__(command, cluster.folder / f"{self.name}.log", env=self._own)

    def restart_with(self, environment: dict[str, str]) -> None:
        """With these variables besides its own, and none of the last time."""
        self.stop(signal.SIGTERM, 30)
        self._env = self._own | environment
        self.start()

    def is_ready(self) -> bool:
        return is_ready(self.metrics)

    def metric(self, name: str) -> float | None:
        try:
            text = httpx.get(f"{self.metrics}/metrics", timeout=2, trust_env=False, verify=PLAIN_HTTP).text
        except httpx.HTTPError:
            return None
        found = re.search(rf"^{name} (\S+)$", text, re.MULTILINE)
        return float(found[1]) if found else None


class Cluster(Running):
    """All of it. `with Cluster(folder) as cluster:` gives one that is ready; every part may be hurt, `mend` brings it back."""

    def __init__(self, folder: Path, *, patroni: bool = False, **settings: object) -> None:
        self.folder = folder
        self.mails = folder / "mail"
        """Where mails go instead of being sent."""
        self.has_patroni = patroni
        self._settings = {f"TERTULIA_{name.upper()}": str(value) for name, value in settings.items()}
        self.network = Network()
        self.nats = [NatsNode(self.network, number, folder / f"nats{number}") for number in ENGINES]
        self.databases = self._make_databases()
        self._make_links()
        self.webs = [Member(self, "web", machine) for machine in WEBS]
        self.relays = [Member(self, "relay", machine) for machine in RELAYS]
        self.workers = [Member(self, "worker", machine) for machine in WORKERS]
        self.local_port = free_port()
        """Where this machine's browsers find it."""
        self.front = self._make_front()
        self.url = f"http://{self.network.home(FRONT)}:{FRONT_PORT}"
        self._stack = ExitStack()

    @property
    def members(self) -> list[Member]:
        return [*self.webs, *self.relays, *self.workers]

    @property
    def postgres_url(self) -> str:
        return self.databases.url

    def settings(self, machine: int) -> dict[str, str]:
        """deploy/cluster/tertulia.env as that machine has it."""
        documented = {name: self.network.seen_from(machine, text) for name, text in settings_of("tertulia.env").items()}
        own = {
            "TERTULIA_EXTERNAL_HOST": "localhost",
            "TERTULIA_EXTERNAL_SCHEME": "http",
            "TERTULIA_TRUSTED_PROXIES": "127.0.0.1",
            "TERTULIA_SEALING_KEY_FILE": str(self.folder / "sealing.keys"),
            "TERTULIA_STORAGE_FOLDER": str(self.folder / "files"),
            "TERTULIA_MAIL_FOLDER": str(self.mails),
            "TERTULIA_OUTGOING_NETWORKS": "127.0.0.1/32",
            "TERTULIA_RATE_LIMITS": "false",
            # A standby made anew has its copy of the slot after some seconds instead of a minute (nats_node.py).
            "TERTULIA_NATS_SYNC_SECONDS": "1",
            "TERTULIA_CONFIRM_AFTER_SECONDS": "3",
        }
        return documented | own | self._settings

    def start(self) -> None:
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        for process in [self.front, *self.members]:
            process.send_signal(signal.SIGCONT)
            process.send_signal(signal.SIGTERM)
        for process in [self.front, *self.members]:
            process.stop(signal.SIGTERM, 20)
        for node in self.nats:
            node.send_signal(signal.SIGCONT)
            node.kill()
        self.databases.stop()
        self.network.close()
        self._stack.close()

    def on_end(self, work: object) -> None:
        """Called in the end (unmount what was mounted)."""
        self._stack.callback(work)  # type: ignore[arg-type]

    def mend(self, seconds: float = 90) -> list[str]:
        """Everything is as in the beginning, but for data; what had ended by itself is named."""
        self.network.thaw(self.network.links())
        ended = []
        for process in [*self.nats, *self.members, self.front]:
            process.send_signal(signal.SIGCONT)
            if not process.is_alive():
                ended.append(getattr(process, "name", "front"))
                process.start()
        self.databases.mend()
        self.await_ready(seconds)
        self._await_replicas()
        return ended

    def await_ready(self, seconds: float = 90) -> None:
        deadline = time.monotonic() + seconds
        await_all(self.nats, seconds)
        while waiting := [member.name for member in self.members if not member.is_ready()]:
            assert time.monotonic() < deadline, f"{waiting} did not become ready; see {self.folder}"
            time.sleep(0.1)

    def _await_replicas(self, seconds: float = 180) -> None:
        """Until NATS has three copies of everything again: with two of them the next fault may leave no majority. A node that was
        cut off may ask for what it missed for a minute ("Expected first catchup entry to be a snapshot")."""
        deadline = time.monotonic() + seconds
        while behind := [node.name for node in self.nats if not node.is_caught_up()]:
            assert time.monotonic() < deadline, f"{behind} did not catch up; see {self.folder}"
            time.sleep(0.5)

    def leader_of_events(self, shard: int) -> NatsNode:
        """The NATS node that leads the stream of this shard."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            for node in self.nats:
                try:
                    leaders = node.leaders()
                except httpx.HTTPError:
                    continue
                names = {name: leader for name, leader in leaders.items() if re.fullmatch(rf"EV_{shard}_\d+", name)}
                if names and (leader := names[max(names, key=_epoch)]):
                    return self.nats[int(leader[1:]) - 1]
            time.sleep(0.1)
        raise AssertionError(f"nobody leads shard {shard}")

    def active_relay(self) -> Member:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            for relay in self.relays:
                if relay.metric("tertulia_relay_active") == 1:
                    return relay
            time.sleep(0.1)
        raise AssertionError("no relay is at work")

    def links_to_postgres(self, *machines: int) -> list[Link]:
        """The ways of those processes to PostgreSQL, or of all."""
        wanted = machines or (*WEBS, *RELAYS, *WORKERS)
        return [link for one in wanted for link in self.network.links(one) if link.port != CLIENT]

    def links_to_nats(self, *machines: int) -> list[Link]:
        wanted = machines or (*WEBS, *RELAYS, *WORKERS)
        return [link for one in wanted for link in self.network.links(one, port=CLIENT)]

    def _start(self) -> None:
        for node in self.nats:
            node.start()
        self.databases.start()
        await_all(self.nats)
        self.run("secrets", "new-key", stdout=self.folder / "sealing.keys")
        self.run("migrate")
        for process in [*self.members, self.front]:
            process.start()
        self.await_ready()

    def run(self, *words: str, stdout: Path | None = None, **more: str) -> None:
        """A command of `tertulia`, to its end."""
        environment = os.environ | self.settings(1) | {"TERTULIA_POSTGRES_URL": self.databases.url} | more
        if stdout is not None:  # it makes the key
            del environment["TERTULIA_SEALING_KEY_FILE"]
        log = self.folder / "commands.log"
        process = ChildProcess([sys.executable, "-m", "tertulia", *words], log, stdout=stdout, env=environment)
        process.start()
        assert process.wait(120), words
        assert process.exit_code == 0, f"tertulia {' '.join(words)}: {log.read_text()[-2000:]}"

    def _make_databases(self) -> Databases:
        if self.has_patroni:
            from tests.cluster.patroni import PatroniTrio

            return PatroniTrio(self.network, self.folder)
        return PostgresPair(self.network, self.folder)

    def _make_links(self) -> None:
        for machine in (*WEBS, *RELAYS, *WORKERS):
            self.databases.join(machine)
            for node in ENGINES:
                self.network.join(machine, node, CLIENT)
        for one in ENGINES:
            for other in ENGINES:
                self.network.join(one, other, ROUTE)
        for web in WEBS:
            self.network.join(FRONT, web, WEB_PORT, METRICS_PORT)

    def _make_front(self) -> ChildProcess:
        program = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")
        assert program, "haproxy is missing: apt-get install haproxy"
        home = self.network.home(FRONT)
        text = on_node("haproxy.cfg", FRONT)
        text = text.replace(f"bind 10.9.0.{FRONT}:", f"bind 127.0.0.1:{self.local_port}\n    bind {home}:")
        # In the guide each machine has its web process; here it is on the machine with the number 1N.
        text = re.sub(r"10\.9\.0\.(\d):9991", r"10.9.0.1\1:9991", text)
        if not self.has_patroni:
            text = text[: text.index("# Patroni answers")]
        text = self.network.seen_from(FRONT, text).replace("127.0.0.1:5000", f"{home}:5000")
        file = self.folder / "haproxy.cfg"
        file.write_text(text)
        return ChildProcess([program, "-W", "-db", "-f", str(file)], self.folder / "haproxy.log")


def _epoch(stream: str) -> int:
    return int(stream.rpartition("_")[2])


__all__ = ["PASSWORD", "Cluster", "Databases", "Member"]
