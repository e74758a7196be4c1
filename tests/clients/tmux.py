"""A program in a real terminal: tmux keeps its screen, keys are pressed, and what stands there is read.

Waiting is always for something on the screen; whatever looks like a complaint of the program ends the test at once.
"""

import re
import secrets
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

COLUMNS, LINES = 150, 30
SECONDS = 60.0
ESCAPE_SECONDS = 0.3
"""A terminal sends the same for Escape and then A as for Alt-A: only a pause tells them apart."""
# The screen stays when the program has ended, to be read; and the server, also before it has a screen.
CONFIGURATION = """
set-option -g remain-on-exit on
set-option -s escape-time 0
set-option -s exit-empty off
"""
COMPLAINTS = re.compile(r"exception|traceback|error\b|went wrong|unable to|cannot|invalid", re.IGNORECASE)


class Complaint(Exception):
    """The program says that something is wrong."""


class Screen:
    """One program on one screen. Leaving it ends both."""

    def __init__(self, command: Sequence[object], env: Mapping[str, str], folder: Path) -> None:
        program = shutil.which("tmux")
        assert program, "tmux is missing: apt-get install tmux (the .ci/run script does it as root)"
        (folder / "tmux.conf").write_text(CONFIGURATION)
        # Each has a server of its own: that of the screen before may still be ending.
        self._tmux = [program, "-S", str(folder / f"tmux-{secrets.token_hex(4)}"), "-f", str(folder / "tmux.conf")]
        self._env = {**env, "TERM": "xterm-256color"}
        size = ("-x", str(COLUMNS), "-y", str(LINES))
        started = shlex.join(map(str, command))
        self._run("new-session", "-d", "-s", "it", *size, "-c", str(folder), started)

    def __enter__(self) -> "Screen":
        return self

    def __exit__(self, *_: object) -> None:
        self._run("kill-server")

    def press(self, *keys: str) -> None:
        """Keys by their names for tmux: `Enter`, `Escape`, `C-d`, `a`."""
        for key in keys:
            self._run("send-keys", "-t", "it", key)
            if key == "Escape":
                time.sleep(ESCAPE_SECONDS)

    def type(self, text: str) -> None:
        self._run("send-keys", "-t", "it", "-l", text)

    def enter(self, text: str) -> None:
        self.type(text)
        self.press("Enter")

    def text(self) -> str:
        """What stands on the screen now."""
        return self._run("capture-pane", "-p", "-t", "it")

    def until(self, wanted: str | Callable[[str], bool], seconds: float = SECONDS) -> str:
        """The screen, once that stands on it."""
        is_there = (lambda text: wanted in text) if isinstance(wanted, str) else wanted
        deadline = time.monotonic() + seconds
        while True:
            text = self.text()
            if is_there(text):
                return text
            if complaint := COMPLAINTS.search(text):
                raise Complaint(f"{complaint}:\n{text}")
            assert time.monotonic() < deadline, f"not there after {seconds} s: {wanted}\n{text}"
            time.sleep(0.05)

    def until_pressing(self, key: str, wanted: str, seconds: float = SECONDS) -> str:
        """The screen, once that stands on it, pressing the key again and again."""
        deadline = time.monotonic() + seconds
        while True:
            self.press(key)
            try:
                return self.until(wanted, 0.3)
            except AssertionError:
                if time.monotonic() > deadline:
                    raise

    def until_gone(self, unwanted: str) -> str:
        return self.until(lambda text: unwanted not in text)

    def until_ended(self, seconds: float = SECONDS) -> str:
        """What stands on the screen when the program has ended by itself."""
        deadline = time.monotonic() + seconds
        while self._run("display-message", "-p", "-t", "it", "#{pane_dead}").strip() != "1":
            assert time.monotonic() < deadline, self.text()
            time.sleep(0.05)
        return self.text()

    def _run(self, *arguments: str) -> str:
        done = subprocess.run(
            [*self._tmux, *arguments], env=self._env, capture_output=True, text=True, timeout=30, check=False
        )
        assert done.returncode == 0, f"{arguments}: {done.stderr}"
        return done.stdout
