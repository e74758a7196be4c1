"""How far a command is."""

import sys
import time

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
    """As Progress, for work in several steps of known size: with the rate and the time that is left."""

    def __init__(self) -> None:
        self._progress = Progress()
        self._step, self._started, self._before = "", 0.0, 0

    def __call__(self, step: str, done: int, total: int) -> None:
        if step != self._step:
            self._step, self._started, self._before = step, time.monotonic(), done
        seconds = time.monotonic() - self._started
        rate = (done - self._before) / seconds if seconds > 0 else 0.0
        left = f", {rate:,.0f}/s, {_duration((total - done) / rate)} left" if rate and done < total else ""
        self._progress(f"{step}: {done:,} of {total:,}{left}")

    def __enter__(self) -> "Steps":
        self._progress.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.__exit__(*error)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes:,} min {rest} s" if minutes else f"{rest} s"
