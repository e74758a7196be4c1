"""Metrics and health have a port of their own; the public one says nothing of them."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.harness.command import said_once, tertulia
from tests.harness.server import Server
from tests.harness.stage import Web
from tests.harness.talk import eventually


@pytest.fixture(scope="module")
def web(server: Server, shared_folder: Path) -> Iterator[Web]:
    web = Web(server, shared_folder, external_scheme="https", hsts="max-age=1000; includeSubDomains")
    try:
        yield web.wait()
    finally:
        web.stop()


@pytest.mark.parametrize("path", ["/metrics", "/health/live", "/health/ready"])
def test_the_public_port_has_neither_metrics_nor_health(web: Web, path: str) -> None:
    reply = httpx.get(web.url + path, headers={"Accept": "*/*"}, trust_env=False)
    assert (reply.status_code, reply.json()["code"]) == (404, "NOT_FOUND")
    assert httpx.get(web.metrics + path, trust_env=False).status_code == 200


@pytest.mark.parametrize(("question", "answer"), [("live", "alive"), ("serving", "serving"), ("ready", "ready")])
def test_a_command_asks_for_those_who_have_no_curl(web: Web, question: str, answer: str) -> None:
    port = web.metrics.rpartition(":")[2]
    env = {"TERTULIA_METRICS_PORT": port, "TERTULIA_METRICS_HOST": "0.0.0.0"}
    asked = tertulia("health", question, env=env)
    assert (asked.returncode, asked.stdout, asked.stderr) == (0, f"{answer}\n", "")


def test_a_process_that_is_away_or_cannot_be_asked_is_not_well() -> None:
    assert "No answer at 127.0.0.1:1" in said_once(tertulia("health", env={"TERTULIA_METRICS_PORT": "1"}))
    assert "TERTULIA_METRICS_PORT" in said_once(tertulia("health"))


def test_the_metrics_of_a_web_process_count_its_requests(web: Web) -> None:
    assert httpx.get(f"{web.url}/api/v1/server_settings", trust_env=False).status_code == 200
    text = httpx.get(f"{web.metrics}/metrics", trust_env=False).text
    assert re.search(r'\ntertulia_http_requests_total\{endpoint="\w*server_settings",method="GET",status="200"\}', text)
    assert 'tertulia_forwarded_requests{said="silent"}' in text
    assert "process_resident_memory_bytes" in text


@pytest.mark.parametrize("path", ["/api/v1/server_settings", "/api/v1/nothing", "/avatar/1", "/nothing.png", "/"])
def test_every_answer_tells_browsers_to_come_with_tls(web: Web, path: str) -> None:
    reply = httpx.get(web.url + path, trust_env=False)
    assert reply.headers["strict-transport-security"] == "max-age=1000; includeSubDomains"


def test_a_server_without_tls_does_not_speak_of_it(server: Server) -> None:
    assert "strict-transport-security" not in httpx.get(f"{server.url}/api/v1/server_settings", trust_env=False).headers


def test_a_worker_tells_when_each_of_its_chores_last_ran(server: Server) -> None:
    if "worker" not in server.ready.metrics:
        pytest.skip("this server does not say where its worker tells of itself")

    def ran() -> set[str]:
        text = httpx.get(f"{server.ready.metrics['worker']}/metrics", trust_env=False).text
        found = re.findall(r'^tertulia_worker_last_run_timestamp_seconds\{chore="(.+)"\} (\S+)$', text, re.MULTILINE)
        return {chore for chore, at in found if time.time() - float(at) < 900}

    eventually(lambda: {"mails", "notices", "scheduled messages", "unused files"} <= ran())
