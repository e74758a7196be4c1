"""The command `tertulia` as a process of its own, as an operator calls it."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.harness.forking import Forked

SECONDS = 120.0


def tertulia(
    *words: str, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run it to its end. `env`: what is set besides the environment of the tests, without their own TERTULIA_*.

    Where PYTHONPATH puts something in the place of a module, it starts from nothing, and finds it."""
    kept = ("TERTULIA_POSTGRES_BIN", "TERTULIA_NATS_SERVER")
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("TERTULIA_") or key in kept}
    run = _started if "PYTHONPATH" in (env or {}) else _forked
    return run(words, inherited | dict(env or {}), cwd or Path.cwd())


def _started(words: Sequence[str], env: Mapping[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tertulia", *words]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
        env=env,
        cwd=cwd,
    )


def _forked(words: Sequence[str], env: Mapping[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
    with TemporaryDirectory() as folder:
        stdout, stderr = Path(folder, "stdout"), Path(folder, "stderr")
        process = Forked(words, stderr, stdout=stdout, env=env, cwd=cwd)
        process.start()
        try:
            assert process.wait(SECONDS), (words, stderr.read_text())
        finally:
            process.kill()
        assert process.exit_code is not None
        return subprocess.CompletedProcess(words, process.exit_code, stdout.read_text(), stderr.read_text())


def said_once(done: subprocess.CompletedProcess[str], *, code: int = 1) -> str:
    """The one line that a command which could not do its work has left."""
    assert (done.returncode, done.stdout) == (code, ""), done
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]
