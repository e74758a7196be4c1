"""The parts of `tertulia dev` put together: engines, database, demo organization, and our three processes.

Started in the order of need, stopped in reverse: web, worker, relay, NATS, PostgreSQL.
"""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

import msgspec
from rich.console import Console

from tertulia.cli.demo import SUBDOMAIN, Demo, ensure_demo, keep, make_login_path
from tertulia.cli.errors import CommandFailed
from tertulia.cli.folder import DevFolder, State
from tertulia.cli.full_disk import FullDisk
from tertulia.cli.health import Question, ask_health
from tertulia.cli.logs import LogWatch
from tertulia.cli.summary import show_summary
from tertulia.cli.supervise import OwnProcess, Supervisor
from tertulia.cli.talk import say_all
from tertulia.engines import Nats, Postgres, find_nats_server, find_postgres, find_wheel_postgres, free_port
from tertulia.engines.find import postgres_version
from tertulia.kernel.settings import Settings

_READY_SECONDS = 60.0
LOOPBACK = "127.0.0.0/8, ::1/128"
"""Whoever tries things out has the servers of their bots on the same machine."""


class Ensemble:
    def __init__(self, settings: Settings, port: int, folder: DevFolder, *, quiet: bool) -> None:
        _check_free(settings.host, port)
        self._folder = folder
        # Standard output belongs to the one line of JSON when a program listens.
        self._console = Console(stderr=quiet, highlight=False)
        self._quiet = quiet
        self._supervisor = Supervisor(self._warn, self._publish)
        self._logs = LogWatch()
        self._programs = find_postgres(settings)
        self._postgres = Postgres(self._programs, folder.postgres)
        self._nats = Nats(find_nats_server(settings), folder.nats, sync_seconds=settings.nats_sync_seconds)
        self._disk = FullDisk(self._nats, self._supervisor, self._warn)
        self._port = port or free_port()
        self._base = settings
        self._metrics = {name: free_port() for name in ("relay", "worker", "web")}
        self._demo: Demo | None = None
        self._is_published = True
        """What was last to be told of it; a disk may be full."""

    def start(self) -> None:
        # Alembic takes half a second to import: that goes on beside initdb.
        threading.Thread(target=import_module, args=("tertulia.migrations",), daemon=True).start()
        origin = "the wheel" if self._programs == find_wheel_postgres() else self._programs
        with self._step(f"PostgreSQL {postgres_version(self._programs)} from {origin}"):
            self._supervisor.add(self._postgres)
        with self._step("NATS"):
            self._supervisor.add(self._nats)
        settings = self._settings()
        with self._step("database tables"):
            _migrate(settings.postgres_url)
        with self._step("web, relay and worker"):
            for name in ("relay", "worker", "web"):
                self._add_own(name, settings)
            self._demo = asyncio.run(ensure_demo(settings, self._folder.demo))
            self._await_ready()
        if not self._demo.has_talked:
            with self._step("demo talk"):
                say_all(self._url, self._demo)
                keep(msgspec.structs.replace(self._demo, has_talked=True), self._folder.demo)
        self._publish(self._supervisor.pids)

    def tick(self) -> None:
        self._supervisor.tick()
        self._disk.tick()
        if not self._is_published:
            self._publish(self._supervisor.pids)
        for line in self._logs.news():
            self._warn(line)

    def stop(self) -> None:
        if not self._quiet:
            self._console.print("\nStopping ...")
        self._supervisor.stop()

    def as_json(self) -> str:
        """The one line for programs."""
        assert self._demo is not None
        line = {
            "url": self._url,
            "realm": SUBDOMAIN,
            "postgres_url": self._postgres.url,
            "nats_url": self._nats.url,
            "users": self._demo.users,
            "channels": self._demo.channels,
            "pids": self._supervisor.pids,
            "metrics": self._monitors,
        }
        return msgspec.json.encode(line).decode()

    def show(self, seconds: float) -> None:
        assert self._demo is not None
        login = self._url + asyncio.run(make_login_path(self._settings(), self._demo))
        show_summary(self._console, self._state(self._supervisor.pids), self._demo, self._folder, seconds, login)

    @property
    def _url(self) -> str:
        return self._settings().url_of(SUBDOMAIN)

    def _settings(self) -> Settings:
        return msgspec.structs.replace(
            self._base,
            postgres_url=self._postgres.url,
            nats_url=self._nats.url,
            port=self._port,
            external_host=f"localhost:{self._port}",
            external_scheme="http",
            metrics_host="127.0.0.1",
            log_format="json",
            development=True,
            mail_folder=self._base.mail_folder or str(self._folder.mail),
            storage_folder=str(self._folder.files),
            sealing_key_file=str(self._folder.sealing_keys),
            outgoing_networks=self._base.outgoing_networks or LOOPBACK,
            picture_networks=self._base.picture_networks or LOOPBACK,
        )

    def _add_own(self, name: str, settings: Settings) -> None:
        log = self._folder.logs / f"{name}.log"
        self._logs.add(name, log)
        own = msgspec.structs.replace(settings, metrics_port=self._metrics.get(name, 0))
        self._supervisor.add(OwnProcess(name, own, log))

    def _await_ready(self) -> None:
        deadline = time.monotonic() + _READY_SECONDS
        while not _answers_ready(self._metrics["web"]):
            if time.monotonic() > deadline:
                raise CommandFailed(f"The server did not become ready; its logs are in {self._folder.logs}.")
            self.tick()
            time.sleep(0.02)

    def _publish(self, pids: dict[str, int]) -> None:
        try:
            self._folder.write_state(self._state(pids))
        except OSError as problem:
            if self._is_published:
                self._warn(f"The addresses of the server cannot be written: {problem}")
            self._is_published = False
        else:
            self._is_published = True

    def _state(self, pids: dict[str, int]) -> State:
        return State(self._url, self._postgres.url, self._nats.url, pids, self._monitors)

    @property
    def _monitors(self) -> dict[str, str]:
        return {name: f"http://127.0.0.1:{port}" for name, port in self._metrics.items()}

    def _warn(self, text: str) -> None:
        self._console.print(f"{time.strftime('%H:%M:%S')} {text}", markup=False, soft_wrap=True, style="yellow")

    @contextmanager
    def _step(self, name: str) -> Iterator[None]:
        began = time.monotonic()
        if self._quiet:
            yield
            return
        with self._console.status(f"{name} ..."):
            yield
        self._console.print(f"[green]✓[/green] {name} [dim]{time.monotonic() - began:.1f} s[/dim]")


def _check_free(host: str, port: int) -> None:
    if not port:
        return
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as problem:
            raise CommandFailed(
                f"Port {port} cannot be used ({problem.strerror}). Choose another with --port; 0 takes a free one."
            ) from problem


def _migrate(url: str) -> None:
    from tertulia.migrations import migrate

    migrate(url)


def _answers_ready(port: int) -> bool:
    try:
        is_ready, _ = ask_health("127.0.0.1", port, Question.READY)
    except OSError:
        return False
    return is_ready
