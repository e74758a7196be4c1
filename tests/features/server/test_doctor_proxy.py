"""What the doctor makes of a proxy: one that is believed, one that nobody named, one that says nothing."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.harness.command import tertulia
from tests.harness.server import OwnServer
from tests.harness.stage import Web

PROXY, OTHER = "127.0.0.5", "127.0.0.9"


@pytest.fixture
def web(server: OwnServer, folder: Path) -> Iterator[Web]:
    web = Web(server, folder, trusted_proxies=PROXY)
    try:
        yield web.wait()
    finally:
        web.stop()


def ask(web: Web, address: str, times: int, **headers: str) -> None:
    with httpx.Client(transport=httpx.HTTPTransport(local_address=address), headers=headers) as client:
        for _ in range(times):
            url = web.url.replace("localhost", "127.0.0.1")
            assert client.get(f"{url}/api/v1/server_settings").status_code == 200


def examine(server: OwnServer, web: Web, **settings: str) -> tuple[int, str]:
    """The doctor's exit code, and its line about the proxy."""
    port = web.metrics.rpartition(":")[2]
    env = server.environment(metrics_port=port, trusted_proxies=PROXY, external_scheme="https", **settings)
    done = tertulia("doctor", env=env)
    [line] = [line for line in done.stdout.splitlines() if "proxy:" in line]
    return done.returncode, line


def test_the_doctor_sees_whether_the_proxy_is_believed(server: OwnServer, web: Web) -> None:
    code, line = examine(server, web)
    assert (code, line.startswith("ok ")) == (0, True), line
    ask(web, OTHER, 3, **{"X-Forwarded-For": "203.0.113.7"})
    code, line = examine(server, web)
    assert (code, line.startswith("WRONG ")) == (1, True)
    assert "3 requests named a client" in line
    ask(web, PROXY, 1, **{"X-Forwarded-For": "203.0.113.7"})
    code, line = examine(server, web)
    assert (code, line.startswith("ok ")) == (0, True), line


def test_the_doctor_sees_a_proxy_that_says_nothing(server: OwnServer, web: Web) -> None:
    ask(web, PROXY, 25)
    code, line = examine(server, web)
    assert (code, "none had X-Forwarded-For" in line) == (1, True), line


def test_the_doctor_refuses_to_believe_everybody(server: OwnServer, web: Web) -> None:
    port = web.metrics.rpartition(":")[2]
    env = server.environment(metrics_port=port, trusted_proxies="10.0.0.0/8, 0.0.0.0/0")
    done = tertulia("doctor", env=env)
    assert done.returncode == 1
    assert "the whole internet" in done.stdout
