"""Prometheus' own tool, which knows what metrics, alerts and questions must look like."""

import shutil
import subprocess
from pathlib import Path


def promtool(*arguments: str, cwd: Path | None = None, given: str = "") -> subprocess.CompletedProcess[str]:
    program = shutil.which("promtool")
    assert program, "promtool is missing: apt-get install prometheus (the .ci/run script does it as root)"
    return subprocess.run([program, *arguments], cwd=cwd, input=given, capture_output=True, text=True, check=False)
