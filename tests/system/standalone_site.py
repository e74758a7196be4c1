"""A server with engines of its own, as `tertulia init --standalone` sets it up in a folder, run by the test."""

import contextlib
import os
import signal
import sys
import tomllib
from pathlib import Path
from typing import Final

import httpx

from tertulia.engines import ChildProcess, free_port
from tests.harness.command import tertulia
from tests.harness.processes import is_running, with_descendants
from tests.harness.server import is_ready
from tests.harness.talk import eventually

HOST: Final = "chat.localhost"
OWNER: Final = "ines@example.com"
PASSWORD: Final = "seven copper kettles sing"
_SERVE: Final = (sys.executable, "-m", "tertulia", "serve", "--standalone")


class StandaloneSite(ChildProcess):
    """`tertulia serve --standalone`."""

    start_seconds = 0.0
    """Of processor time, if somebody has looked."""

    def __init__(self, folder: Path, *options: str, **environment: str) -> None:
        self.folder, self.data = folder, folder / "data"
        done = tertulia("init", "--standalone", "--no-system", "--folder", str(folder), HOST, OWNER)
        assert done.returncode == 0, done.stderr
        self.link = done.stdout.strip()
        self.port, metrics = free_port(), free_port()
        self.metrics = f"http://127.0.0.1:{metrics + 2}"
        self.settings = {
            "TERTULIA_CONFIG": str(folder / "tertulia.toml"),
            "TERTULIA_PORT": str(self.port),
            "TERTULIA_METRICS_PORT": str(metrics),
            "TERTULIA_RATE_LIMITS": "false",
            "TERTULIA_BUSY_SECONDS": "0",
        }
        self._environment = {key: value for key, value in os.environ.items() if not key.startswith("TERTULIA_")}
        self._environment |= self.settings | environment
        super().__init__([*_SERVE, *options], folder / "serve.log", env=self._environment)

    def engines_only(self) -> ChildProcess:
        """Another process, for while this one does not run."""
        return ChildProcess([*_SERVE, "--engines-only"], self.folder / "engines.log", env=self._environment)

    @property
    def postgres_url(self) -> str:
        """Of the server's own role."""
        settings: str = tomllib.loads((self.folder / "tertulia.toml").read_text())["postgres_url"]
        return settings

    def await_ready(self, seconds: float = 120.0) -> None:
        """Until everything works."""

        def is_so() -> bool:
            assert self.is_alive(), self.said()
            return is_ready(self.metrics)

        eventually(is_so, seconds)

    def said(self) -> str:
        """By all of its parts."""
        return (self.folder / "serve.log").read_text()

    def client(self, email: str = "", key: str = "") -> httpx.Client:
        """As a proxy with TLS would pass on what somebody asks."""
        return httpx.Client(
            base_url=f"http://127.0.0.1:{self.port}/api/v1/",
            headers={"Host": HOST, "X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.1"},
            auth=(email, key) if key else None,
            timeout=60,
            trust_env=False,
        )

    def owner(self) -> tuple[str, str]:
        """Who opened the link: address and API key."""
        with self.client() as nobody:
            token = self.link.rpartition("/")[2]
            chosen = {"token": token, "new_password": PASSWORD}
            assert nobody.post("accounts/password/reset/confirm", data=chosen).status_code == 200
            fetched = nobody.post("fetch_api_key", data={"username": OWNER, "password": PASSWORD})
            return OWNER, fetched.json()["api_key"]

    def processes(self) -> list[int]:
        """Itself, and all that it has started."""
        return with_descendants(self.pid)

    def kill_everything(self) -> None:
        """As a power failure would, as far as processes go."""
        found = self.processes()
        for pid in found:  # the parent first: it would start the others again
            with contextlib.suppress(ProcessLookupError):  # a server of PostgreSQL whose client was killed first
                os.kill(pid, signal.SIGKILL)
        self.wait(10)
        eventually(lambda: not any(map(is_running, found)))
