"""`tertulia serve`, `migrate` and `doctor` on engines that somebody else runs."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tertulia.engines import ChildProcess, Nats, Postgres, find_nats_server, find_postgres, free_port
from tertulia.kernel.settings import load_settings
from tests.harness.processes import arguments, children
from tests.harness.server import is_ready
from tests.harness.talk import eventually

pytestmark = pytest.mark.system


def run(env: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tertulia", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=env)


def await_ready(url: str) -> None:
    eventually(lambda: is_ready(url), 60)


def roles(pid: int) -> dict[str, int]:
    """Name -> process id of the server's processes below that one."""
    return {words[-1]: child for child in children(pid) if (words := arguments(child))}


def test_serve_keeps_three_processes_up_and_the_doctor_is_content(folder: Path) -> None:
    settings = load_settings()
    port, metrics = free_port(), free_port()
    with (
        Postgres(find_postgres(settings), folder / "postgres") as postgres,
        Nats(find_nats_server(settings), folder / "nats") as nats,
    ):
        file = folder / "tertulia.toml"
        file.write_text(f'postgres_url = "{postgres.url}"\nnats_url = "{nats.url}"\nport = {port}\n')
        env = os.environ | {"TERTULIA_CONFIG": str(file), "TERTULIA_METRICS_PORT": str(metrics)}

        empty = run(env, "doctor")
        assert empty.returncode == 1
        assert "run `tertulia migrate`" in empty.stdout
        for _ in range(2):  # safe to repeat
            assert run(env, "migrate").returncode == 0

        command = [sys.executable, "-m", "tertulia", "serve"]
        with ChildProcess(command, folder / "serve.log", env=env) as serve:
            await_ready(f"http://127.0.0.1:{metrics + 2}")
            before = roles(serve.pid)
            assert set(before) == {"web", "relay", "worker"}
            os.kill(before["web"], signal.SIGKILL)
            while roles(serve.pid).get("web") in (before["web"], None):
                time.sleep(0.02)
            await_ready(f"http://127.0.0.1:{metrics + 2}")
            for own in (metrics, metrics + 1, metrics + 2):
                assert httpx.get(f"http://127.0.0.1:{own}/metrics", trust_env=False).status_code == 200
            healthy = run(env, "doctor")
            assert healthy.returncode == 0, healthy.stdout
            processes = roles(serve.pid).values()
        assert serve.exit_code == 0
        assert not any(Path(f"/proc/{pid}").exists() for pid in processes)
        assert "web ended (killed by SIGKILL); starting it again" in (folder / "serve.log").read_text()


def test_without_engines_the_doctor_says_what_to_do() -> None:
    nowhere = {"POSTGRES_URL": "postgresql://x@127.0.0.1:1/x", "NATS_URL": "nats://127.0.0.1:1"}
    done = run(os.environ | {f"TERTULIA_{name}": value for name, value in nowhere.items()}, "doctor")
    assert done.returncode == 1
    assert done.stdout.count("WRONG") == 2
    assert "TERTULIA_POSTGRES_URL" in done.stdout
