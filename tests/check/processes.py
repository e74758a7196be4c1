"""Suites as processes: each writes into a file of its own, and all of them end when the run does.

A suite is a process group. Ctrl-C, or the end of the run, interrupts the group, which lets tests stop their servers, and then
kills what is left of it.
"""

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from tests.check.suite import Command

MOST_SECONDS = 40 * 60  # a suite that hangs must not take the verdict on the others with it
MOST_SECONDS_OF_ALL = 70 * 60  # CI cuts a run off after 90 minutes, without its verdict; installing comes before it
GRACE_SECONDS = 20


class Stopped(Exception):
    """The run is being ended: nothing more is started."""


@dataclass(frozen=True)
class Ended:
    code: int
    seconds: float
    processor_seconds: float = 0.0
    """Of it and of all that it started and waited for; 0 where the system does not say."""


class Processes:
    def __init__(self, most_seconds_of_all: float = MOST_SECONDS_OF_ALL) -> None:
        self._began = time.monotonic()
        self._most_seconds_of_all = most_seconds_of_all
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._is_stopped = False

    @property
    def seconds(self) -> float:
        """Since the run began."""
        return time.monotonic() - self._began

    def run(self, command: Command, log: Path) -> Ended:
        """Run to the end; what it says is in `log`."""
        began = time.monotonic()
        most = min(MOST_SECONDS, max(0.0, self._most_seconds_of_all - self.seconds))
        with log.open("wb") as output:
            process = self._start(command, output.fileno())
            try:
                used = _processor_seconds(process, most)
                code = process.wait(max(0.0, most - (time.monotonic() - began)))
            except subprocess.TimeoutExpired:
                output.write(f"\nbin/check: ended after {most:.0f} s, and {self.seconds:.0f} s of the run\n".encode())
                _end(process, GRACE_SECONDS)
                code = process.returncode or 1
                used = 0.0
            # Not after Ctrl-C: then it is stop() that ends it.
            with self._lock:
                self._running.discard(process)
        if self._is_stopped:
            raise Stopped
        return Ended(code, time.monotonic() - began, used)

    def stop(self, grace: float = GRACE_SECONDS) -> None:
        """End all that runs, and start nothing more."""
        with self._lock:
            self._is_stopped = True
            running = list(self._running)
        enders = [threading.Thread(target=_end, args=[process, grace]) for process in running]
        for ender in enders:
            ender.start()
        for ender in enders:
            ender.join()

    def _start(self, command: Command, output: int) -> "subprocess.Popen[bytes]":
        with self._lock:
            if self._is_stopped:
                raise Stopped
            process = subprocess.Popen(
                command.words,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=command.folder,
                env=os.environ | command.env,
                start_new_session=True,
            )
            self._running.add(process)
            return process


def _processor_seconds(process: "subprocess.Popen[bytes]", most: float) -> float:
    """Wait until it has ended, and ask before it is forgotten."""
    try:
        with os.fdopen(os.pidfd_open(process.pid)) as ended:
            select.select([ended], [], [], most)
        stat = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    except (AttributeError, OSError):
        return 0.0
    return sum(map(int, stat[11:15])) / os.sysconf("SC_CLK_TCK")


def _end(process: "subprocess.Popen[bytes]", grace: float) -> None:
    _signal(process, signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(grace)
    _signal(process, signal.SIGKILL)
    process.wait()


def _signal(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)
