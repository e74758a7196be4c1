"""How far a command is."""

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

TERMINAL_SECONDS, LOG_SECONDS = 0.2, 15.0
"""How often a person at a terminal sees how far it is, and how often a log does."""


class Progress:
    """How far it is, on standard error: one line that changes, or now and then a line for the log."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._next = time.monotonic() + (0 if self._is_terminal else LOG_SECONDS)
        self._has_line = False

    def __call__(self, text: str) -> None:
        if (now := time.monotonic()) < self._next:
            return
        self._next = now + (TERMINAL_SECONDS if self._is_terminal else LOG_SECONDS)
        self._has_line = self._is_terminal
        print(
            f"\r\x1b[K{text}" if self._is_terminal else text,
            end="" if self._is_terminal else "\n",
            file=sys.stderr,
            flush=True,
        )

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._has_line:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class Steps:
    """As Progress, for work in several steps of known size: a bar for each at a terminal, with the rate and the time left."""

    def __init__(self) -> None:
        self._progress = Progress()
        self._bars = _bars() if sys.stderr.isatty() else None
        self._step, self._started, self._before, self._shown = "", 0.0, 0, 0.0

    def __call__(self, step: str, done: int, total: int) -> None:
        now = time.monotonic()
        is_new = step != self._step
        if is_new:
            self._step, self._started, self._before = step, now, done
        seconds = now - self._started
        rate = (done - self._before) / seconds if seconds > 0 else 0.0
        if self._bars is None:
            left = f", {rate:,.0f}/s, {_duration((total - done) / rate)} left" if rate and done < total else ""
            self._progress(f"{step}: {done:,} of {total:,}{left}")
            return
        if is_new:
            self._bars.add_task(step, rate="")
        elif now < self._shown + TERMINAL_SECONDS and done < total:
            return
        self._shown = now
        self._bars.update(self._bars.task_ids[-1], completed=done, total=total, rate=f"{rate:,.0f}/s" if rate else "")

    def __enter__(self) -> "Steps":
        self._progress.__enter__()
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.__exit__(*error)
        if self._bars is not None:
            self._bars.stop()


def _bars() -> "Bars":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = TextColumn("{task.description:20}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}")
    return Bars(*columns, TimeRemainingColumn(), console=Console(stderr=True))


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes:,} min {rest} s" if minutes else f"{rest} s"
