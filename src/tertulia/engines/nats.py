"""Run a nats-server with JetStream in a folder of its own.

The folder holds `nats.conf`, `password`, `store` (JetStream's) and `nats.log`. One server per store: a start waits for
a predecessor that is still on its way out.
"""

import signal
import socket
import time
from pathlib import Path

from tertulia.engines.errors import EngineFailed
from tertulia.engines.ports import free_port
from tertulia.engines.process import ChildProcess
from tertulia.engines.running import Running
from tertulia.engines.secret import secret_in

USER = "tertulia"
MAX_PAYLOAD = 8 * 1024 * 1024
_READY_SECONDS = 60.0
_LEFTOVER_SECONDS = 15.0

_CONFIGURATION = """\
# Written by tertulia at each start.
listen: "127.0.0.1:{port}"
server_name: "tertulia"
pid_file: "{folder}/nats.pid"
max_payload: {max_payload}
authorization {{ user: "{user}", password: "{password}" }}
jetstream {{ store_dir: "{folder}/store", sync_interval: "{sync_seconds}s" }}
"""


class Nats(Running):
    name = "nats"

    def __init__(
        self,
        program: Path,
        folder: Path,
        *,
        port: int | None = None,
        sync_seconds: int = 10,
        password: str = "",
    ) -> None:
        """`password`: one that is kept elsewhere. It has no port where it tells of itself: that one would ask for no password."""
        self.folder = folder.absolute()
        self.log = self.folder / "nats.log"
        self.port = port or free_port()
        self._may_move = port is None
        self._sync_seconds = sync_seconds
        self._password = password
        self._config = self.folder / "nats.conf"
        self.process = ChildProcess([str(program), "--config", str(self._config)], self.log)

    @property
    def url(self) -> str:
        return f"nats://{USER}:{self._secret()}@127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start and return when it answers; the streams are recovered by then."""
        self.folder.mkdir(mode=0o711, parents=True, exist_ok=True)
        self._await_predecessor()
        deadline = time.monotonic() + _READY_SECONDS
        while not self._try_start(deadline):
            time.sleep(0.1)
        self._may_move = False

    def stop(self) -> None:
        self.process.stop(signal.SIGINT, 10)

    def kill(self) -> None:
        self.process.kill()

    def restart(self) -> None:
        self.stop()
        self.start()

    def _await_predecessor(self) -> None:
        deadline = time.monotonic() + _LEFTOVER_SECONDS
        while (pid := self._predecessor()) is not None:
            if time.monotonic() > deadline:
                raise EngineFailed(f"nats-server already runs in {self.folder} (process {pid}). Stop that one first.")
            time.sleep(0.1)

    def _predecessor(self) -> int | None:
        """The process id of a running server of this folder. Its command line tells it from a reused process id."""
        try:
            pid = int((self.folder / "nats.pid").read_text())
            arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except (OSError, ValueError):
            return None
        return pid if str(self._config).encode() in arguments else None

    def _try_start(self, deadline: float) -> bool:
        self._configure()
        mark = self.log.stat().st_size if self.log.exists() else 0
        self.process.start()
        while self.process.is_alive() and time.monotonic() < deadline:
            if self._answers():
                return True
            time.sleep(0.02)
        self.process.kill()
        said = self.log.read_bytes()[mark:].decode(errors="replace")
        if "address already in use" in said and self._may_move:
            self.port = free_port()
            return False
        raise EngineFailed(f"nats-server did not start; its log is {self.log}:\n{said[-2000:].strip()}")

    def _configure(self) -> None:
        self._config.touch(mode=0o600)
        self._config.write_text(
            _CONFIGURATION.format(
                port=self.port,
                folder=self.folder,
                max_payload=MAX_PAYLOAD,
                user=USER,
                password=self._secret(),
                sync_seconds=self._sync_seconds,
            )
        )

    def _secret(self) -> str:
        return self._password or secret_in(self.folder / "password")

    def _answers(self) -> bool:
        """The server greets each connection with INFO; it listens only after its streams are recovered."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                return connection.recv(5) == b"INFO "
        except OSError:
            return False
