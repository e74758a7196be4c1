"""The data folder of `tertulia dev`: who may use it, and what lies in it.

dev.lock      held by the running `tertulia dev`; also the sign that the folder is ours to wipe
state.json    addresses and process ids of the running server, for `tertulia dev fill` and the tests
demo.json     the demo people's passwords and keys
sealing.keys  the key that seals secrets in the database
mail/         mails that would have been sent
files/        what people uploaded
postgres/ nats/ logs/
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from tertulia.cli.errors import CommandFailed
from tertulia.kernel.private_files import write_private


class State(msgspec.Struct, frozen=True):
    """The running server, as others on this machine need to know it."""

    url: str
    postgres_url: str
    nats_url: str
    pids: dict[str, int]
    metrics: dict[str, str]


class DevFolder:
    """A data folder that this process holds."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.postgres = path / "postgres"
        self.nats = path / "nats"
        self.logs = path / "logs"
        self.mail = path / "mail"
        self.files = path / "files"
        self.sealing_keys = path / "sealing.keys"
        self.demo = path / "demo.json"
        self._state = path / "state.json"

    def write_state(self, state: State) -> None:
        write_private(self._state, msgspec.json.format(msgspec.json.encode(state)))

    def forget_state(self) -> None:
        self._state.unlink(missing_ok=True)


def default_folder() -> Path:
    """Where data goes when nobody says otherwise."""
    if os.geteuid() == 0:
        return Path("/var/lib/tertulia/dev")
    base = os.environ.get("XDG_DATA_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".local" / "share") / "tertulia" / "dev"


@contextmanager
def open_folder(path: Path, *, fresh: bool) -> Iterator[DevFolder]:
    """Take the folder for this process; `fresh` empties it first."""
    path = path.expanduser().absolute()
    _check_ours(path)
    # Searchable for others: as root, PostgreSQL runs as somebody else. What is private below is closed by itself.
    path.mkdir(mode=0o711, parents=True, exist_ok=True)
    with (path / "dev.lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise CommandFailed(
                f"`tertulia dev` runs already in {path} (process {lock.read().strip()}). Stop it with Ctrl-C, or choose "
                "another folder with --data (and another port with --port)."
            ) from None
        if fresh:
            _empty(path)
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        folder = DevFolder(path)
        folder.logs.mkdir(mode=0o700, exist_ok=True)
        if not folder.sealing_keys.exists():
            from tertulia.kernel.sealing import new_key

            write_private(folder.sealing_keys, new_key().encode())
        try:
            yield folder
        finally:
            folder.forget_state()


def find_state(path: Path) -> State | None:
    """The server that runs in that folder now, if any."""
    path = path.expanduser()
    try:
        with (path / "dev.lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return None  # nobody holds the lock: the state is from a server that was killed
    except BlockingIOError:
        pass
    except (FileNotFoundError, PermissionError):
        return None
    try:
        return msgspec.json.decode((path / "state.json").read_bytes(), type=State)
    except (FileNotFoundError, PermissionError):
        return None  # still starting, or somebody else's


def _check_ours(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise CommandFailed(f"{path} is not a folder.")
    if path.is_dir() and not (path / "dev.lock").exists() and any(path.iterdir()):
        raise CommandFailed(f"{path} holds files that are not from `tertulia dev`. Choose an empty or a new folder.")


def _empty(path: Path) -> None:
    for entry in path.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != "dev.lock":
            entry.unlink()
