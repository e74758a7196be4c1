"""One more web process on the engines of a running server."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tertulia.engines import ChildProcess, free_port
from tests.harness.server import Addresses, OwnServer, is_ready


class WebProcess(ChildProcess):
    """`tertulia web` beside the one that `tertulia dev` runs."""

    def __init__(self, server: Addresses, log: Path, **settings: object) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        metrics = free_port()
        self.metrics = f"http://127.0.0.1:{metrics}"
        own = {"port": self.port, "metrics_port": metrics, "rate_limits": "false", **settings}
        own = {"postgres_url": server.postgres_url, "nats_url": server.nats_url, **own}
        if isinstance(server, OwnServer):
            # All processes of a server say the same: also that mails leave it.
            own = {"mail_folder": log.parent / "mail", **own}
            own = {"storage_folder": server.files, "sealing_key_file": server.sealing_keys, **own}
        environment = os.environ | {f"TERTULIA_{name.upper()}": str(value) for name, value in own.items()}
        super().__init__([sys.executable, "-m", "tertulia", "web"], log, env=environment)

    def await_ready(self, seconds: float = 30.0) -> None:
        deadline = time.monotonic() + seconds
        while not is_ready(self.metrics):
            assert self.is_alive(), "the web process ended"
            assert time.monotonic() < deadline, "the web process did not become ready"
            time.sleep(0.05)


@contextmanager
def second_web(server: Addresses, folder: Path, **settings: object) -> Iterator[WebProcess]:
    """Started, ready, and stopped in the end."""
    web = WebProcess(server, folder / "second-web.log", **settings)
    web.start()
    try:
        web.await_ready()
        yield web
    finally:
        web.stop(seconds=20)
