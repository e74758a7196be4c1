"""What the doctor says of the way from outside: real proxies with the files that we ship, and nginx with mistakes in its file."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tertulia.engines import free_port
from tests.harness.server import OwnServer
from tests.harness.stage import Web
from tests.system.test_proxies_in_front import PROXIES, running

pytestmark = pytest.mark.system

POLLS = {"heartbeat_seconds": 6, "heartbeat_jitter_seconds": 0}
"""A poll waits for less than it does elsewhere, so that the doctor need not wait for long."""


@pytest.fixture(scope="module")
def web(server: OwnServer, shared_folder: Path) -> Iterator[Web]:
    web = Web(server, shared_folder, **POLLS)
    try:
        yield web.wait()
    finally:
        web.stop()


def examine(server: OwnServer, web: Web, folder: Path, port: int, *options: str) -> tuple[int, str]:
    """The doctor's exit code, and its line about the public address."""
    own = web.url.rpartition(":")[2]
    env = server.environment(external_host=f"localhost:{port}", external_scheme="https", port=own, **POLLS)
    env["SSL_CERT_FILE"] = str(folder / "authority.pem")
    command = [sys.executable, "-m", "tertulia", "doctor", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=env)
    [line] = [line for line in done.stdout.splitlines() if "public address:" in line]
    return done.returncode, line


@pytest.mark.parametrize("name", PROXIES)
def test_the_files_that_we_ship_are_found_good(name: str, server: OwnServer, web: Web, folder: Path) -> None:
    with running(name, web, folder / name) as front:
        code, line = examine(server, web, folder / name, front.port, "--thorough")
    assert (code, line.startswith("ok ")) == (0, True), line
    assert "leads here, with its Host header, and takes large files as they come" in line
    assert "answers are passed on as they come, and polls may wait" in line


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("proxy_set_header Host $host;", ""), "does not pass the Host header on"),
        (("proxy_set_header Host $host;", "proxy_set_header Host 127.0.0.1:9991;"), "does not pass the Host header on"),
        (("client_max_body_size 101m;", ""), "refuses files of 100 MiB"),
        (("server 127.0.0.1:", "server 127.0.0.9:"), "answers 502: does the proxy lead to"),
    ],
)
def test_a_mistake_in_the_file_of_nginx_is_found(
    change: tuple[str, str], said: str, server: OwnServer, web: Web, folder: Path
) -> None:
    with running("nginx", web, folder / "nginx", change) as front:
        code, line = examine(server, web, folder / "nginx", front.port)
    assert (code, line.startswith("WRONG ")) == (1, True), line
    assert said in line


def test_a_proxy_that_keeps_uploads_until_they_are_whole_is_a_warning(
    server: OwnServer, web: Web, folder: Path
) -> None:
    with running("nginx", web, folder / "nginx", ("proxy_request_buffering off;", "")) as front:
        code, line = examine(server, web, folder / "nginx", front.port)
    assert (code, line.startswith("WARNING "), "collects uploads" in line) == (0, True, True), line


def test_a_proxy_that_keeps_answers_until_they_are_whole_is_a_warning(
    server: OwnServer, web: Web, folder: Path
) -> None:
    with running("nginx", web, folder / "nginx", ("proxy_buffering off;", "")) as front:
        code, line = examine(server, web, folder / "nginx", front.port)
    assert (code, line.startswith("WARNING "), "collects answers" in line) == (0, True, True), line


def test_a_proxy_that_ends_polls_before_their_time_is_found_by_who_waits(
    server: OwnServer, web: Web, folder: Path
) -> None:
    impatient = ("proxy_read_timeout 120s;", "proxy_read_timeout 3s;")
    with running("nginx", web, folder / "nginx", impatient) as front:
        assert examine(server, web, folder / "nginx", front.port)[0] == 0
        code, line = examine(server, web, folder / "nginx", front.port, "--thorough")
    assert (code, line.startswith("WRONG ")) == (1, True), line
    assert re.search(r"ends answers on which nothing happens for \d s, and a poll waits for 6 s", line), line


def test_an_address_that_cannot_be_reached_or_trusted_from_here_is_a_warning(
    server: OwnServer, web: Web, folder: Path
) -> None:
    (folder / "authority.pem").write_text("")
    code, line = examine(server, web, folder, free_port())
    assert (code, line.startswith("WARNING "), "cannot be reached from here" in line) == (0, True, True), line
    with running("nginx", web, folder / "nginx") as front:
        code, line = examine(server, web, folder, front.port)
    assert (code, line.startswith("WARNING "), "is not trusted here" in line) == (0, True, True), line
