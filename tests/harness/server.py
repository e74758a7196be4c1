"""A whole Tertulia for tests: started by `tertulia dev --json`, or already running somewhere.

`Server` knows nothing but the line of JSON, so tests that use only it run against any server. `OwnServer` is one that
we started: its processes can be killed, its logs read.
"""

import os
import signal
import ssl
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

import httpx
import msgspec
import psycopg2

from tertulia.engines import ChildProcess, Nats, Postgres
from tests.harness.ready_made import copy_ready_made
from tests.harness.schemas import acheck_reply, check_reply

PLAIN_HTTP = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For `verify` of httpx, whose clients would each read the certificates of the world, which takes 25 ms; this one trusts none."""


class Engines(NamedTuple):
    """The two engines alone."""

    postgres: Postgres
    nats: Nats


OWNER, ADMINISTRATOR, MODERATOR, MEMBER, GUEST = 100, 200, 300, 400, 600


class User(msgspec.Struct, frozen=True):
    user_id: int
    email: str
    password: str | None
    api_key: str
    role: int


class Channel(msgspec.Struct, frozen=True):
    stream_id: int
    name: str


class Ready(msgspec.Struct, frozen=True):
    """The line that `tertulia dev --json` prints."""

    url: str
    realm: str
    postgres_url: str
    nats_url: str
    users: list[User]
    channels: list[Channel]
    metrics: dict[str, str] = {}
    """Of web, relay and worker; older servers had those of web at `url`."""


PATIENT = {
    "rate_limits": "false",
    "postgres_connect_seconds": "15",
    "postgres_pool_seconds": "20",
    "postgres_lock_seconds": "20",
    "postgres_statement_seconds": "60",
    "postgres_narrow_seconds": "60",
    "busy_seconds": "20",
    "password_memory_mib": "1",
    "worker_pause_seconds": "0.25",
}
"""Settings for tests: they call far more often than people do, and while one holds a lock, a busy machine takes longer than
people would wait. Tests of the limits set them anew. Passwords protect nobody here: hashing them took a third of all time.
And what a test waits for passes through several chores, one after the other."""
MAIL_IN = "reply+%s@mail.example.com"
"""Where mail comes in, if a test runs the process for it."""


class Addresses(Protocol):
    """Where the two engines are."""

    @property
    def postgres_url(self) -> str: ...

    @property
    def nats_url(self) -> str: ...


class Server:
    def __init__(self, ready: Ready) -> None:
        self.ready = ready
        self.url = ready.url
        self.metrics = ready.metrics.get("web", ready.url)
        self.postgres_url = ready.postgres_url
        self.nats_url = ready.nats_url
        self.channels = {channel.name: channel.stream_id for channel in ready.channels}
        people = [user for user in ready.users if user.password is not None]
        self.owner = _first(people, OWNER)
        self.administrator = _first(people, ADMINISTRATOR)
        self.moderator = _first(people, MODERATOR)
        self.members = [user for user in people if user.role == MEMBER]
        self.guest = _first(people, GUEST)
        self.bot = next(user for user in ready.users if user.password is None)

    @classmethod
    def running(cls, file: Path) -> "Server":
        """The server whose line of JSON is in that file."""
        return cls(msgspec.json.decode(file.read_bytes(), type=Ready))

    def client(self, user: User | None = None, *, url: str | None = None) -> httpx.Client:
        """Talks as that user, or as nobody; paths are relative to /api/v1/. Close it."""
        return httpx.Client(
            base_url=f"{url or self.url}/api/v1/",
            auth=_auth(user),
            timeout=_TIMEOUT,
            trust_env=False,
            verify=PLAIN_HTTP,
            event_hooks={"response": [check_reply]},
        )

    def async_client(self, user: User | None = None, *, url: str | None = None) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            base_url=f"{url or self.url}/api/v1/",
            auth=_auth(user),
            timeout=_TIMEOUT,
            trust_env=False,
            verify=PLAIN_HTTP,
            event_hooks={"response": [acheck_reply]},
        )


class State(msgspec.Struct, frozen=True):
    """What `tertulia dev` keeps in its data folder: always current, also after a restart of a process."""

    pids: dict[str, int]
    metrics: dict[str, str]


class OwnServer(Server):
    """A server of our own. Stop it."""

    def __init__(self, process: ChildProcess, folder: Path, ready: Ready) -> None:
        super().__init__(ready)
        self.process = process
        self.folder = folder
        self.logs = folder / "data" / "logs"
        self.files = folder / "data" / "files"
        self.sealing_keys = folder / "data" / "sealing.keys"

    @classmethod
    def start(
        cls, folder: Path, *options: str, env: Mapping[str, str] | None = None, from_nothing: bool = False
    ) -> "OwnServer":
        """Start in that folder (data, logs and all) and wait until it is ready. If it is empty, then with data that was made
        before (ready_made.py), or from nothing."""
        if not from_nothing and not (folder / "data").exists():
            cls.prepare(folder)
        line, log = folder / "ready.json", folder / "dev.log"
        line.unlink(missing_ok=True)
        command = [sys.executable, "-m", "tertulia", "dev", "--json", "--port", "0", "--data", str(folder / "data")]
        settings = {**PATIENT, "mail_in_address": MAIL_IN}
        chosen = {f"TERTULIA_{name.upper()}": value for name, value in settings.items()} | dict(env or {})
        process = ChildProcess([*command, *options], log, stdout=line, env=os.environ | chosen)
        process.start()
        deadline = time.monotonic() + 90
        while not line.read_bytes().endswith(b"\n"):
            if not process.is_alive() or time.monotonic() > deadline:
                process.stop(signal.SIGTERM, 30)
                raise AssertionError(f"`tertulia dev` did not become ready; see {folder}:\n{log.read_text()[-3000:]}")
            time.sleep(0.02)
        return cls(process, folder, msgspec.json.decode(line.read_bytes(), type=Ready))

    @classmethod
    def prepare(cls, folder: Path) -> Path:
        """Put the data there that a start finds; the folder of PostgreSQL in it, for settings in its `local.conf`."""
        copy_ready_made(folder / "data", cls._start_once)
        return folder / "data" / "postgres" / "cluster"

    @classmethod
    def _start_once(cls, folder: Path) -> None:
        code = cls.start(folder, from_nothing=True).stop()
        assert code == 0, f"`tertulia dev` ended with code {code}; see {folder}"

    def stop(self) -> int:
        """As Ctrl-C or a service manager would; the exit code."""
        self.process.stop(signal.SIGTERM, 60)
        code = self.process.exit_code
        assert code is not None
        return code

    @property
    def state(self) -> State:
        return msgspec.json.decode((self.folder / "data" / "state.json").read_bytes(), type=State)

    def kill(self, name: str, *, by: signal.Signals = signal.SIGKILL, seconds: float = 60.0) -> None:
        """kill -9 web, relay, worker, nats or postgres, and wait until `tertulia dev` has started it again."""
        old = self.state.pids[name]
        os.kill(old, by)
        deadline = time.monotonic() + seconds
        while self.state.pids[name] == old:
            assert time.monotonic() < deadline, f"{name} was not started again within {seconds} s; see {self.folder}"
            time.sleep(0.02)

    @contextmanager
    def paused(self, name: str) -> Iterator[None]:
        """Web, relay, worker, nats or postgres does nothing meanwhile, and goes on then. The worker holds nothing meanwhile:
        it is stopped between two transactions."""
        pid = self.state.pids[name]
        os.kill(pid, signal.SIGSTOP)
        try:
            deadline = time.monotonic() + 60
            while name == "worker" and self._worker_is_in_a_transaction():
                assert time.monotonic() < deadline, f"the worker is always in a transaction; see {self.folder}"
                os.kill(pid, signal.SIGCONT)
                time.sleep(0.02)
                os.kill(pid, signal.SIGSTOP)
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    def _worker_is_in_a_transaction(self) -> bool:
        sql = "select from pg_stat_activity where application_name like 'tertulia worker%' and xact_start is not null"
        with closing(psycopg2.connect(self.postgres_url)) as connection, connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.rowcount > 0

    def log(self, name: str) -> str:
        return (self.logs / f"{name}.log").read_text()

    def environment(self, **settings: object) -> dict[str, str]:
        """For one more process of ours (`python -m tertulia web`) on the same engines: os.environ and these settings."""
        own = {"postgres_url": self.postgres_url, "nats_url": self.nats_url, "rate_limits": "false", **settings}
        own.setdefault("storage_folder", self.files)
        own.setdefault("sealing_key_file", self.sealing_keys)
        return os.environ | {f"TERTULIA_{name.upper()}": str(value) for name, value in own.items()}


def is_ready(url: str) -> bool:
    """Whether the process that has its metrics there can work."""
    try:
        return httpx.get(f"{url}/health/ready", timeout=2, trust_env=False, verify=PLAIN_HTTP).status_code == 200
    except httpx.HTTPError:
        return False


# Long polls answer with a heartbeat after about a minute.
_TIMEOUT = httpx.Timeout(90.0, connect=10.0)


def _first(users: list[User], role: int) -> User:
    return next(user for user in users if user.role == role)


def _auth(user: User | None) -> httpx.BasicAuth | None:
    return httpx.BasicAuth(user.email, user.api_key) if user else None
