"""The command `tertulia` as a process of its own, as an operator calls it."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

SECONDS = 120.0


def tertulia(
    *arguments: str, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run it to its end. `env`: what is set besides the environment of the tests, without their own TERTULIA_*."""
    kept = ("TERTULIA_POSTGRES_BIN", "TERTULIA_NATS_SERVER")
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("TERTULIA_") or key in kept}
    return subprocess.run(
        [sys.executable, "-m", "tertulia", *arguments],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
        env=inherited | dict(env or {}),
        cwd=cwd,
    )


def said_once(done: subprocess.CompletedProcess[str], *, code: int = 1) -> str:
    """The one line that a command which could not do its work has left."""
    assert (done.returncode, done.stdout) == (code, ""), done
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]
