"""One child process that never outlives its parent.

The kernel sends the child its death signal when the *thread* that started it ends; so children are started from the
main thread only. Each child leads a session of its own: Ctrl-C in the terminal reaches the parent alone, which then
stops its children in the right order.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from tertulia.engines.account import Account
from tertulia.engines.launch import FOLDER_NUMBER
from tertulia.engines.running import Running

INHERITED_FOLDER = Path(f"/proc/self/fd/{FOLDER_NUMBER}")
_LAUNCH = Path(__file__).with_name("launch.py")


class ChildProcess(Running):
    """A program that can be started, stopped, killed and started again; its output is appended to a log file, or is ours.
    `stdout`: another file for its standard output.

    `folder` is opened before root is given up; the program reaches it as `INHERITED_FOLDER`.
    `sockets` are open in the program from number 3 on, as systemd hands them over (`LISTEN_FDS`).
    """

    def __init__(
        self,
        command: Sequence[str],
        log: Path | None,
        *,
        stdout: Path | None = None,
        env: Mapping[str, str] | None = None,
        account: Account | None = None,
        folder: Path | None = None,
        sockets: Sequence[socket.socket] = (),
        death_signal: signal.Signals = signal.SIGTERM,
    ) -> None:
        self.command = list(command)
        self.log = log
        self._stdout = stdout or log
        self._env = None if env is None else dict(env)
        self._sockets = [each.fileno() for each in sockets]
        self._account = account
        self._folder = folder
        self._death_signal = death_signal
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("start child processes from the main thread: they die with the thread that started them")
        if self.is_alive():
            raise RuntimeError(f"{self.command[0]} runs already")
        prefix = _prefix(self._death_signal, self._account, self._folder, self._sockets)
        with ExitStack() as files:
            log = files.enter_context(self.log.open("ab")) if self.log else None
            stdout = files.enter_context(self._stdout.open("ab")) if self._stdout else None
            self._process = subprocess.Popen(
                [*prefix, *self.command],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=log,
                env=self._env,
                cwd="/",
                start_new_session=True,
                pass_fds=self._sockets,
            )

    @property
    def pid(self) -> int:
        if self._process is None:
            raise RuntimeError(f"{self.command[0]} was not started")
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs or before the first start; negative: the signal that ended it."""
        return None if self._process is None else self._process.poll()

    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def send_signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)

    def wait(self, seconds: float) -> bool:
        """True when the process has ended (or was never started) within that time."""
        if self._process is None:
            return True
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def stop(self, number: signal.Signals = signal.SIGTERM, seconds: float = 10.0) -> None:
        """Ask it to end; after that time, end it."""
        if self.is_alive():
            self.send_signal(number)
            if not self.wait(seconds):
                self.kill()

    def kill(self) -> None:
        """kill -9, and wait until it is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def dying_with_us(command: Sequence[str]) -> list[str]:
    """The command of a child process that is killed when we are, or when the thread that starts it ends."""
    return [*_prefix(signal.SIGKILL, None, None, ()), *command]


def _prefix(death: signal.Signals, account: Account | None, folder: Path | None, sockets: Sequence[int]) -> list[str]:
    uid, gid = (account.uid, account.gid) if account else (-1, -1)
    how = (os.getpid(), int(death), uid, gid, folder or "-", ",".join(map(str, sockets)) or "-")
    return [sys.executable, "-I", "-S", str(_LAUNCH), *map(str, how)]
