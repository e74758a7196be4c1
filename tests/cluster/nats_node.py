"""One of three nats-servers, configured by deploy/cluster/nats.conf."""

import shutil
import signal
import time
from pathlib import Path
from typing import Any

import httpx

from tertulia.engines import ChildProcess, find_nats_server
from tertulia.kernel.settings import load_settings
from tests.cluster.network import Network
from tests.cluster.templates import on_node
from tests.harness.server import PLAIN_HTTP

CLIENT, ROUTE, MONITOR = 4222, 6222, 8222


class NatsNode(ChildProcess):
    def __init__(self, network: Network, number: int, folder: Path) -> None:
        folder.mkdir(parents=True)
        self.number = number
        self.name = f"n{number}"
        self.folder = folder
        self.store = folder / "store"
        self.monitor = f"http://{network.home(number)}:{MONITOR}"
        text = network.seen_from(number, on_node("nats.conf", number))
        text = text.replace("/run/nats", str(folder)).replace("/var/lib/nats", str(self.store))
        # Whatever a server learns of the others by hearsay leads nowhere: all routes are links.
        text = text.replace("no_advertise: true", 'no_advertise: true\n  advertise: "127.0.0.1:1"')
        # Tests do not wait for half a minute until PostgreSQL may forget something (topology.py).
        text = text.replace('sync_interval: "10s"', 'sync_interval: "1s"')
        config = folder / "nats.conf"
        config.write_text(text)
        program = find_nats_server(load_settings())
        super().__init__([str(program), "--config", str(config)], folder / "nats.log")

    def is_ready(self) -> bool:
        """Whether JetStream runs here and knows a leader."""
        try:
            return self._ask("healthz?js-enabled-only=true").get("status") == "ok" and bool(self._leader())
        except httpx.HTTPError:
            return False

    def leaders(self) -> dict[str, str]:
        """Who leads each stream, as this server knows it."""
        accounts = self._ask("jsz?accounts=true&streams=true").get("account_details", [])
        streams = [stream for account in accounts for stream in account.get("stream_detail", [])]
        return {stream["name"]: stream.get("cluster", {}).get("leader", "") for stream in streams}

    def is_caught_up(self) -> bool:
        try:
            return bool(self._ask("healthz").get("status") == "ok")
        except httpx.HTTPError:
            return False

    def end_gently(self) -> None:
        self.stop(signal.SIGTERM, 20)

    def wipe(self) -> None:
        """Everything it kept; it must not run."""
        shutil.rmtree(self.store, ignore_errors=True)

    def _leader(self) -> str:
        return str(self._ask("jsz").get("meta_cluster", {}).get("leader", ""))

    def _ask(self, path: str) -> dict[str, Any]:
        answer: dict[str, Any] = httpx.get(
            f"{self.monitor}/{path}", timeout=2, trust_env=False, verify=PLAIN_HTTP
        ).json()
        return answer


def await_all(nodes: list[NatsNode], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not all(node.is_ready() for node in nodes):
        assert time.monotonic() < deadline, f"NATS did not become ready; see {nodes[0].folder.parent}"
        time.sleep(0.1)
