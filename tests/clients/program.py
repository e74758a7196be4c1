"""A program of somebody else, run as they would: its lines are read as they come."""

import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from tests.harness.server import User
from tests.harness.talk import Json

PROGRAMS = Path(__file__).parent / "programs"
SECONDS = 30.0


def clean_environment(home: Path, **more: str) -> dict[str, str]:
    """Nothing of ours and nothing of the user's: no settings, no rc file, no proxy."""
    return {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "PYTHONIOENCODING": "utf-8",
        "NO_PROXY": "*",
        **more,
    }


class Program:
    """A running program. Leaving it ends it."""

    def __init__(self, command: Sequence[object], *, env: Mapping[str, str], cwd: Path | None = None) -> None:
        self.command = list(map(str, command))
        self.errors: list[str] = []
        self.seen: list[str] = []
        self._lines: Queue[str | None] = Queue()
        self._process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(env),
            cwd=cwd,
            text=True,
        )
        self._readers = [
            threading.Thread(target=self._read_lines, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def say(self, line: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def line(self, seconds: float = SECONDS) -> str:
        """Its next line."""
        try:
            found = self._lines.get(timeout=seconds)
        except Empty:
            raise AssertionError(f"nothing for {seconds} s from {self.told()}") from None
        assert found is not None, f"it ended: {self.told()}"
        self.seen.append(found)
        return found

    def until(self, is_wanted: Callable[[Json], bool], seconds: float = SECONDS) -> Json:
        """Its next line of JSON that is the one we wait for."""
        deadline = time.monotonic() + seconds
        while True:
            found: Json = json.loads(self.line(max(0.01, deadline - time.monotonic())))
            if is_wanted(found):
                return found

    def until_line(self, part: str, seconds: float = SECONDS) -> str:
        """Its next line with that in it."""
        deadline = time.monotonic() + seconds
        while part not in (found := self.line(max(0.01, deadline - time.monotonic()))):
            pass
        return found

    def until_error(self, part: str, seconds: float = SECONDS) -> None:
        """Wait for a line with that in it among its errors, where programs also say that they are ready."""
        deadline = time.monotonic() + seconds
        while not any(part in line for line in self.errors):
            assert time.monotonic() < deadline, self.told()
            assert self._process.poll() is None, self.told()
            time.sleep(0.02)

    def ended(self, seconds: float = SECONDS) -> int:
        """Wait for its own end; the exit code."""
        return self._process.wait(seconds)

    def told(self) -> str:
        return f"{' '.join(self.command)}\n{''.join(self.seen[-20:])}\n{''.join(self.errors[-40:])}"

    def end(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for reader in self._readers:
            reader.join(5)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert pipe
            try:
                pipe.close()
            except BrokenPipeError:
                pass

    def _read_lines(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _read_errors(self) -> None:
        assert self._process.stderr
        for line in self._process.stderr:
            self.errors.append(line)


class Calls(Program):
    """A `zulip.Client` in a process of its own: `calls.send_message({...})` is its answer."""

    def __init__(self, programs: Path, site: str, email: str, key: str, home: Path) -> None:
        command = [programs / "python", PROGRAMS / "zulip_calls.py", site, email, key]
        super().__init__(command, env=clean_environment(home))
        self.greeting: Json = json.loads(self.line())

    def __enter__(self) -> "Calls":
        return self

    def __getattr__(self, method: str) -> Callable[..., Json]:
        def call(*positional: Any, **named: Any) -> Json:
            self.say(json.dumps([method, positional, named]))
            answer: Json = json.loads(self.line())
            return answer

        return call


def finished(
    command: Sequence[object], *, env: Mapping[str, str], stdin: str = "", cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run to the end."""
    return subprocess.run(
        list(map(str, command)),
        env=dict(env),
        input=stdin,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def write_rc(file: Path, site: str, user: User) -> Path:
    """The file that clients find their server and key in."""
    file.write_text(f"[api]\nemail={user.email}\nkey={user.api_key}\nsite={site}\n")
    file.chmod(0o600)
    return file
