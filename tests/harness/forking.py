"""Processes of ours that begin at once: forked from one that has imported everything, which is most of what a start costs.

`Forked` is `python -m tertulia WORDS` in all but that: an own session, environment, folder and output, and it dies with the
tests. The process that it is forked from (`python -m tests.harness.forking`) starts with the first of them, has no threads,
and runs nothing itself. What must be seen to start from nothing (`ChildProcess`) is started so by the suites of the system.
"""

import atexit
import ctypes
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path

from tertulia.cli import main as tertulia
from tertulia.engines.launch import PR_SET_PDEATHSIG
from tertulia.engines.running import Running

IMPORTED = (
    "tertulia.cli.commands",
    "tertulia.cli.doctor",
    "tertulia.cli.errors",
    "tertulia.server.mail",
    "tertulia.server.web",
    "tertulia.server.worker",
    "typer._adapters",
)
MOST_BYTES = 150_000
"""Of a request: words and environment. A socket takes no more at once."""
_turn = threading.Lock()


class Forked(Running):
    """A process `tertulia WORDS` that can be started, stopped, killed and started again, as a `ChildProcess` can.

    Its output is appended to `log`; `stdout`: another file for its standard output.
    """

    def __init__(
        self,
        words: Sequence[str],
        log: Path,
        *,
        env: Mapping[str, str],
        stdout: Path | None = None,
        cwd: Path | None = None,
    ) -> None:
        self._asked = json.dumps({"words": [*words], "env": {**env}, "cwd": str(cwd or "/")}).encode()
        assert len(self._asked) < MOST_BYTES
        self._log, self._stdout = log, stdout or log
        self._link: socket.socket | None = None
        self._pid: int | None = None
        self.exit_code: int | None = None
        """None while it runs; negative: the signal that ended it. What was last looked at: ask `is_alive`."""

    def start(self) -> None:
        assert not self.is_alive(), "it runs already"
        self._link, other = socket.socketpair()
        with ExitStack() as files:
            files.enter_context(other)
            numbers = [files.enter_context(each.open("ab")).fileno() for each in (self._stdout, self._log)]
            with _turn:
                socket.send_fds(_origin(), [self._asked], [other.fileno(), *numbers])
        self.exit_code = None
        self._pid = int(self._line())

    @property
    def pid(self) -> int:
        assert self._pid is not None, "it was not started"
        return self._pid

    def is_alive(self) -> bool:
        return not self.wait(0)

    def wait(self, seconds: float) -> bool:
        """True when it has ended (or was never started) within that time."""
        if self._link is None:
            return True
        ready, _, _ = select.select([self._link], [], [], seconds)
        if ready:
            self.exit_code = int(self._line())
            self._link.close()
            self._link = None
        return bool(ready)

    def send_signal(self, number: signal.Signals) -> None:
        if self.is_alive():
            os.kill(self.pid, number)

    def stop(self, number: signal.Signals = signal.SIGTERM, seconds: float = 10.0) -> None:
        """Ask it to end; after that time, end it."""
        self.send_signal(number)
        if not self.wait(seconds):
            self.kill()

    def kill(self) -> None:
        """kill -9, and wait until it is gone."""
        self.send_signal(signal.SIGKILL)
        self.wait(60)

    def _line(self) -> bytes:
        assert self._link is not None
        read = b""
        while not read.endswith(b"\n"):
            part = self._link.recv(16)
            assert part, "the process that others are forked from has ended"
            read += part
        return read


@cache
def _origin() -> socket.socket:
    """Where to ask for a process. Whoever listens there ends when the tests do."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-m", "tests.harness.forking", str(theirs.fileno())]
    with theirs:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], cwd=_ROOT)
    atexit.register(process.wait)
    atexit.register(ours.close)
    return ours


_ROOT = Path(__file__).parents[2]


def main() -> None:
    """Forks whatever is asked for. Returns in a process that was forked, once it is what was asked for."""
    asked = socket.socket(fileno=int(sys.argv[1]))
    for name in IMPORTED:
        importlib.import_module(name)
    assert threading.active_count() == 1
    gc.freeze()
    links: dict[int, socket.socket] = {}
    ended, wakes = socket.socketpair()
    ended.setblocking(False)
    wakes.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes.fileno(), warn_on_full_buffer=False)
    while True:
        ready, _, _ = select.select([asked, ended], [], [])
        if ended in ready:
            with suppress(BlockingIOError):
                ended.recv(1000)
            _tell_ends(links)
        if asked in ready:
            said, numbers, _, _ = socket.recv_fds(asked, MOST_BYTES, 3)
            if not said:
                os._exit(0)  # the tests are over: the kernel tells whoever was forked
            if (pid := os.fork()) == 0:
                signal.set_wakeup_fd(-1)
                for each in (asked, ended, wakes, *links.values()):
                    each.close()
                _become(said, numbers)
                return
            link, *files = numbers
            for number in files:
                os.close(number)
            links[pid] = socket.socket(fileno=link)
            links[pid].send(b"%d\n" % pid)


def _tell_ends(links: dict[int, socket.socket]) -> None:
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            with links.pop(pid) as link, suppress(BrokenPipeError):
                link.send(b"%d\n" % os.waitstatus_to_exitcode(status))


def _become(said: bytes, numbers: list[int]) -> None:
    """What `launch.py` and `python -m tertulia` do before the first line of ours."""
    link, stdout, stderr = numbers
    os.close(link)
    for number, wanted in ((stdout, 1), (stderr, 2)):
        os.dup2(number, wanted)
        os.close(number)
    os.setsid()
    parent = os.getppid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:  # it died before the setting took hold
        os._exit(1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    wanted = json.loads(said)
    os.environ.clear()
    os.environ.update(wanted["env"])
    os.chdir(wanted["cwd"])
    sys.argv = ["tertulia", *wanted["words"]]


if __name__ == "__main__":
    main()
    tertulia()
