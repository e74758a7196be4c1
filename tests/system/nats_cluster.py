"""Three nats-servers that form a JetStream cluster on this machine."""

import itertools
from pathlib import Path

import httpx

from tertulia.engines import ChildProcess, find_nats_server, free_port
from tertulia.engines.running import Running
from tertulia.kernel.settings import load_settings
from tests.harness.server import PLAIN_HTTP
from tests.system.postgres_node import wait_until

SIZE = 3
_names = itertools.count(1)
_CONFIGURATION = """\
listen: "127.0.0.1:{client}"
http: "127.0.0.1:{monitor}"
server_name: "n{client}"
max_payload: 8388608
jetstream {{ store_dir: "{store}", sync_interval: "1s" }}
cluster {{ name: "{name}", listen: "127.0.0.1:{route}", routes: [{routes}] }}
"""


class NatsCluster(Running):
    def __init__(self, folder: Path) -> None:
        ports = [(free_port(), free_port(), free_port()) for _ in range(SIZE)]
        name = f"cluster{next(_names)}"
        routes = ", ".join(f'"nats://127.0.0.1:{route}"' for _, _, route in ports)
        self.url = ",".join(f"nats://127.0.0.1:{client}" for client, _, _ in ports)
        self._monitors = [f"http://127.0.0.1:{monitor}" for _, monitor, _ in ports]
        self.servers = []
        for client, monitor, route in ports:
            own = folder / f"nats{client}"
            own.mkdir(parents=True)
            numbers = {"client": client, "monitor": monitor, "route": route}
            text = _CONFIGURATION.format(**numbers, store=own / "store", name=name, routes=routes)
            (own / "nats.conf").write_text(text)
            command = [str(find_nats_server(load_settings())), "--config", str(own / "nats.conf")]
            self.servers.append(ChildProcess(command, own / "nats.log"))

    def start(self) -> None:
        """Returns when there is a leader."""
        for server in self.servers:
            server.start()
        wait_until(lambda: all(map(_is_ready, self._monitors)))

    def stop(self) -> None:
        for server in self.servers:
            server.kill()


def _is_ready(monitor: str) -> bool:
    try:
        answer = httpx.get(f"{monitor}/jsz", timeout=2, trust_env=False, verify=PLAIN_HTTP).json()
    except httpx.HTTPError:
        return False
    return bool(answer.get("meta_cluster", {}).get("leader")) and answer["meta_cluster"].get("cluster_size") == SIZE
