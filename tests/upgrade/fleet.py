"""The processes of a server on engines of its own, each of which can be of another version.

The sockets of web processes stay open while one ends and the next one starts, as `tertulia serve` and systemd do it.
"""

import asyncio
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tertulia.engines import ChildProcess, Nats, Postgres, find_nats_server, find_postgres, free_port
from tertulia.kernel.settings import load_settings
from tests.harness.server import PATIENT, is_ready
from tests.upgrade.versions import Version

NAMES = ("relay", "worker", "web 1", "web 2")
PATIENCE_SECONDS = 180.0


class Fleet:
    def __init__(self, folder: Path, postgres: Postgres, nats: Nats, settings: Mapping[str, object]) -> None:
        self.folder = folder
        self._given = settings
        self.postgres_url = postgres.url
        self.nats_url = nats.url
        self.sockets = {name: _listener() for name in NAMES if name.startswith("web")}
        self.running: dict[str, tuple[Version, ChildProcess, str]] = {}

    @property
    def urls(self) -> list[str]:
        return [f"http://127.0.0.1:{one.getsockname()[1]}" for one in self.sockets.values()]

    def settings(self, **more: object) -> dict[str, str]:
        own = {"postgres_url": self.postgres_url, "nats_url": self.nats_url, "storage_folder": self.folder / "files"}
        return {
            f"TERTULIA_{name.upper()}": str(value) for name, value in {**PATIENT, **own, **self._given, **more}.items()
        }

    def run(self, version: Version, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A command of a version, to its end."""
        return subprocess.run(
            [*version.command, *arguments],
            env=version.env | self.settings(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    async def start(self, name: str, version: Version) -> None:
        """Start a process, and wait until it can work. A relay or worker that runs already is stopped then; a web process
        before, because two would share one socket."""
        old = self.running.pop(name, None)
        if old is not None and name in self.sockets:
            await self._stop(old[1])
        metrics = free_port()
        env = version.env | self.settings(metrics_port=metrics)
        sockets = []
        if name in self.sockets:
            sockets, env = [self.sockets[name]], env | {"LISTEN_FDS": "1"}
        log = self.folder / f"{name}.{version.name}.log"
        process = ChildProcess([*version.command, name.split(maxsplit=1)[0]], log, env=env, sockets=sockets)
        process.start()
        self.running[name] = (version, process, f"http://127.0.0.1:{metrics}")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not await asyncio.to_thread(is_ready, self.running[name][2]):
            assert process.is_alive(), f"{name} of version {version.name} ended:\n{log.read_text()[-2000:]}"
            assert time.monotonic() < deadline, f"{name} of version {version.name} did not become ready"
            await asyncio.sleep(0.05)
        if old is not None and name not in self.sockets:
            await self._stop(old[1])

    def stop(self) -> None:
        for _, process, _ in self.running.values():
            process.stop(signal.SIGTERM, 20)
        for one in self.sockets.values():
            one.close()

    async def _stop(self, process: ChildProcess) -> None:
        await asyncio.to_thread(process.stop, signal.SIGTERM, 30)
        assert process.exit_code == 0, f"{process.command[-1]} ended with {process.exit_code}"


@contextmanager
def fleet_in(folder: Path, **settings: object) -> Iterator[Fleet]:
    """Engines of its own, and no process yet."""
    own = load_settings()
    with (
        Postgres(find_postgres(own), folder / "postgres") as postgres,
        Nats(find_nats_server(own), folder / "nats") as nats,
    ):
        fleet = Fleet(folder, postgres, nats, settings)
        try:
            yield fleet
        finally:
            fleet.stop()


def _listener() -> socket.socket:
    one = socket.create_server(("127.0.0.1", 0), backlog=1024)
    os.set_inheritable(one.fileno(), True)
    return one
