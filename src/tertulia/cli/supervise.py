"""Keep several processes up until somebody says stop; then stop them in reverse order.

One thread, no locks: signals end the waiting by an exception (`StopRequested`), everything else happens in `tick`.
"""

import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from tertulia.engines import ChildProcess, EngineFailed
from tertulia.kernel.settings import PREFIX, Settings

_STEADY_SECONDS = 5.0
_LONGEST_PAUSE = 5.0
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequested(BaseException):
    """Ctrl-C or a signal to end. Not an Exception: nothing on the way may swallow it."""


class Service(Protocol):
    """What a supervisor keeps up: an engine, or a process of ours."""

    name: str

    @property
    def process(self) -> ChildProcess: ...

    def start(self) -> None: ...

    def stop(self) -> None: ...


class OwnProcess:
    """A command of `tertulia` as a child, such as `web`. `sockets`: what it listens on, which we keep open when it ends."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        log: Path | None = None,
        sockets: Sequence[socket.socket] = (),
        arguments: Sequence[str] = (),
    ) -> None:
        """`arguments`: of the command, if they are not just its name."""
        self.name = name
        self._patience = settings.drain_seconds + 5.0
        inherited = {key: value for key, value in os.environ.items() if not key.startswith((PREFIX, "LISTEN_"))}
        if sockets:
            inherited["LISTEN_FDS"] = str(len(sockets))
        # -P: a folder named tertulia where the operator happens to stand is not the program
        command = [sys.executable, "-P", "-m", "tertulia", *(arguments or (name,))]
        self.process = ChildProcess(command, log, env=inherited | settings.environment(), sockets=sockets)

    def start(self) -> None:
        self.process.start()

    def stop(self) -> None:
        self.process.stop(signal.SIGTERM, self._patience)


class Supervisor:
    """Starts services in order, starts those again that die, stops them in reverse order."""

    def __init__(self, say: Callable[[str], None], changed: Callable[[dict[str, int]], None] | None = None) -> None:
        self._say = say
        self._changed = changed
        self._kept: list[_Kept] = []

    def add(self, service: Service) -> None:
        """Start it and keep it up from now on."""
        kept = _Kept(service)
        self._kept.append(kept)
        kept.started = time.monotonic()
        service.start()

    @property
    def pids(self) -> dict[str, int]:
        return {kept.service.name: kept.service.process.pid for kept in self._kept}

    def tick(self) -> None:
        """Look after each service once."""
        for kept in self._kept:
            if kept.service.process.is_alive():
                continue
            if kept.due is None:
                pause = kept.next_pause()
                code = kept.service.process.exit_code
                self._say(f"{kept.service.name} ended ({_reason(code)}); starting it again" + _in(pause))
                kept.due = time.monotonic() + pause
            if time.monotonic() >= kept.due:
                self._start_again(kept)

    def replace(self, which: Callable[[Service], bool] = lambda _: True) -> None:
        """Stop and start each of these, one after another: whatever program is installed now runs then."""
        for kept in [kept for kept in self._kept if which(kept.service)]:
            self._say(f"restarting {kept.service.name}")
            kept.service.stop()
            self._start_again(kept)

    def stop(self) -> None:
        ignore_signals()
        while self._kept:
            self._kept.pop().service.stop()

    def _start_again(self, kept: "_Kept") -> None:
        kept.started = time.monotonic()
        try:
            kept.service.start()
        except (EngineFailed, OSError) as problem:  # engines write their settings first: the disk may be full
            self._say(str(problem))
            kept.due = time.monotonic() + kept.next_pause()
            return
        kept.due = None
        if self._changed is not None:
            self._changed(self.pids)


class _Kept:
    """A service and its recent troubles: the first restart is immediate, a service that keeps dying is tried ever later."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.started = 0.0
        self.due: float | None = None
        self._deaths = 0

    def next_pause(self) -> float:
        self._deaths = 0 if time.monotonic() - self.started > _STEADY_SECONDS else self._deaths + 1
        return 0.0 if self._deaths <= 1 else min(0.2 * 2.0**self._deaths, _LONGEST_PAUSE)


@contextmanager
def stop_on_signals() -> Iterator[None]:
    """Inside, the first Ctrl-C or SIGTERM raises StopRequested, which is swallowed here; later ones are ignored."""
    for number in _ENDING:
        signal.signal(number, _raise_once)
    with suppress(StopRequested):
        yield


def note_hangup() -> Callable[[], bool]:
    """From now on SIGHUP ends nothing: the answer is whether one came since it was last asked for.

    A terminal that closes sends it too, so whoever runs it in one loses the server with the terminal.
    """
    came: list[int] = []
    if not sys.stdin.isatty():
        signal.signal(signal.SIGHUP, lambda number, _frame: came.append(number))

    def has_come() -> bool:
        found = bool(came)
        came.clear()
        return found

    return has_come


def ignore_signals() -> None:
    """For an orderly end of bounded length, which an impatient second Ctrl-C must not cut in half."""
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)


def _raise_once(_number: int, _frame: object) -> None:
    ignore_signals()
    raise StopRequested


def _reason(code: int | None) -> str:
    if code is not None and code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"exit code {code}"


def _in(pause: float) -> str:
    return f" in {pause:.1f} s" if pause else ""
