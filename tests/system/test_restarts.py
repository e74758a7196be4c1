"""Restarts of `tertulia serve`: whoever calls meanwhile waits for a moment, and nobody is refused."""

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tertulia.engines import ChildProcess, free_port
from tests.harness.command import tertulia
from tests.harness.server import PATIENT, Engines, is_ready
from tests.harness.talk import eventually
from tests.system.test_dev_serve import roles

pytestmark = pytest.mark.system


@pytest.fixture
def settings(engines: Engines, folder: Path) -> dict[str, str]:
    """Of a server on a database of its own."""
    given = {
        "postgres_url": engines.postgres.url,
        "nats_url": engines.nats.url,
        "port": free_port(),
        "metrics_port": free_port(),
        "storage_folder": folder / "files",
        **PATIENT,
    }
    env = {f"TERTULIA_{name.upper()}": str(value) for name, value in given.items()}
    assert tertulia("migrate", env=env).returncode == 0
    return env


def serving(folder: Path, env: dict[str, str], *sockets: socket.socket, single: bool = False) -> ChildProcess:
    handed_over = {"LISTEN_FDS": str(len(sockets))} if sockets else {}
    command = [sys.executable, "-m", "tertulia", "serve", *(["--single"] if single else [])]
    return ChildProcess(command, folder / "serve.log", env=os.environ | env | handed_over, sockets=sockets)


def await_ready(env: dict[str, str]) -> None:
    eventually(lambda: is_ready(f"http://127.0.0.1:{int(env['TERTULIA_METRICS_PORT']) + 2}"), 60)


@contextmanager
def calling(port: int) -> Iterator[list[object]]:
    """Somebody who calls again and again, each time on a new connection; what went wrong."""
    wrong: list[object] = []
    done = threading.Event()

    def call() -> None:
        while not done.is_set():
            try:
                reply = httpx.get(f"http://127.0.0.1:{port}/api/v1/messages", timeout=60, trust_env=False)
                if reply.status_code != 404:
                    wrong.append((reply.status_code, reply.text))
            except httpx.HTTPError as error:
                wrong.append(repr(error))
            time.sleep(0.02)

    caller = threading.Thread(target=call)
    caller.start()
    try:
        yield wrong
    finally:
        done.set()
        caller.join(60)


def test_after_a_hangup_other_processes_serve_and_nobody_was_refused(folder: Path, settings: dict[str, str]) -> None:
    with serving(folder, settings) as serve:
        await_ready(settings)
        before = roles(serve.pid)
        with calling(int(settings["TERTULIA_PORT"])) as wrong:
            serve.send_signal(signal.SIGHUP)
            eventually(lambda: set(roles(serve.pid).values()).isdisjoint(before.values()), 60)
            await_ready(settings)
        assert wrong == []
        assert roles(serve.pid).keys() == {"web", "relay", "worker"}
    assert serve.exit_code == 0


def test_who_calls_at_a_socket_of_the_service_manager_waits_until_there_is_a_server(
    folder: Path, settings: dict[str, str]
) -> None:
    """As systemd keeps it while the server is restarted."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        with calling(listener.getsockname()[1]) as wrong:
            time.sleep(1)
            server = serving(folder, settings, listener)
            server.start()
            await_ready(settings)
        server.stop(seconds=30)
    assert (wrong, server.exit_code) == ([], 0)


def test_a_single_process_becomes_the_program_anew_after_a_hangup_and_nobody_was_refused(
    folder: Path, settings: dict[str, str]
) -> None:
    def starts() -> int:
        return (folder / "serve.log").read_text().count('"event": "web"')

    with serving(folder, settings, single=True) as serve:
        await_ready(settings)
        assert roles(serve.pid) == {}
        with calling(int(settings["TERTULIA_PORT"])) as wrong:
            serve.send_signal(signal.SIGHUP)
            eventually(lambda: starts() == 2, 60)
            await_ready(settings)
        assert wrong == []
    assert serve.exit_code == 0
