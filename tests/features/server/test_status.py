"""The page for whoever runs the server: each part, how it is, since when, and what to do."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from tertulia.engines import free_port
from tertulia.kernel.monitor import serve_monitor
from tertulia.kernel.settings import load_settings
from tertulia.server.status.page import SUMMARY
from tertulia.server.status.watch import watched
from tests.harness.server import Server
from tests.harness.stage import Web
from tests.harness.talk import eventually


def status(metrics: str) -> Any:
    return httpx.get(f"{metrics}/status.json", timeout=20, trust_env=False).json()


def parts(metrics: str) -> dict[str, Any]:
    return {said["part"]["name"]: said["part"] | {"since": said["since"]} for said in status(metrics)["parts"]}


@pytest.mark.parametrize("process", ["web", "worker"])
def test_the_parts_that_are_healthy_are_said_so_in_a_page_without_scripts_and_as_json(
    server: Server, process: str
) -> None:
    if process not in server.ready.metrics:
        pytest.skip(f"this server does not say where its {process} tells of itself")
    metrics = server.ready.metrics[process]
    # Other tests leave work behind that cannot be done, so that the worker may be behind here.
    eventually(lambda: {parts(metrics)[name]["state"] for name in ("PostgreSQL", "NATS", "Relay")} == {"healthy"}, 60)
    found = parts(metrics)
    assert {"Worker", "Mail", "Disk"} <= found.keys()
    assert datetime.fromisoformat(found["Relay"]["since"]) <= datetime.now(UTC)
    page = httpx.get(f"{metrics}/status", trust_env=False)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert any(f"<h1>{summary}</h1>" in page.text for summary in SUMMARY.values())
    assert "<script" not in page.text


@pytest.mark.parametrize("path", ["/status", "/status.json"])
def test_the_public_port_has_no_such_page(server: Server, path: str) -> None:
    reply = httpx.get(server.url + path, headers={"Accept": "*/*"}, trust_env=False)
    assert (reply.status_code, "PostgreSQL" in reply.text) == (404, False)


@pytest.fixture
def lost_web(server: Server, folder: Path) -> Iterator[Web]:
    """Without NATS, a relay or mails."""
    web = Web(server, folder, nats_url=f"nats://127.0.0.1:{free_port()}", slot="nobodys", mail_folder="")
    try:
        yield web
    finally:
        web.kill()


def test_what_is_down_is_said_with_what_to_do_while_the_process_itself_cannot_work(lost_web: Web) -> None:
    eventually(lambda: _answers(lost_web.metrics), 60)
    found = parts(lost_web.metrics)
    assert found["PostgreSQL"]["state"] == "healthy"
    assert found["NATS"]["state"] == "down"
    assert "Start nats-server" in found["NATS"]["do"]
    assert (found["Relay"]["state"], found["Mail"]["state"]) == ("down", "behind")
    assert status(lost_web.metrics)["state"] == "down"
    page = httpx.get(f"{lost_web.metrics}/status", trust_env=False).text
    assert "<h1>Something is down</h1>" in page
    assert "docs/how-to/operate.md#when-postgresql-or-nats-is-away" in page
    assert httpx.get(f"{lost_web.metrics}/health/live", trust_env=False).text == "alive\n"


@pytest.fixture
def web_without_database(server: Server, folder: Path) -> Iterator[Web]:
    web = Web(server, folder, postgres_url=f"postgresql://tertulia:s3cret@127.0.0.1:{free_port()}/tertulia")
    try:
        yield web
    finally:
        web.kill()


def test_without_a_database_the_page_says_so_and_names_no_password(web_without_database: Web) -> None:
    metrics = web_without_database.metrics
    eventually(lambda: _answers(metrics), 60)
    found = parts(metrics)
    assert (found["PostgreSQL"]["state"], found["NATS"]["state"]) == ("down", "healthy")
    assert "Relay" not in found
    assert "s3cret" not in httpx.get(f"{metrics}/status", trust_env=False).text


def _answers(metrics: str) -> bool:
    try:
        return httpx.get(f"{metrics}/health/live", trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


async def test_nothing_is_asked_where_nobody_reads_and_readers_at_one_time_are_told_of_one_look() -> None:
    calls: list[int] = []

    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        calls.append(writer.get_extra_info("sockname")[1])
        writer.close()

    postgres, nats, metrics = free_port(), free_port(), free_port()
    settings = msgspec.structs.replace(
        load_settings(),
        postgres_url=f"postgresql://127.0.0.1:{postgres}/tertulia",
        nats_url=f"nats://127.0.0.1:{nats}",
        metrics_port=metrics,
    )

    async def missing() -> str | None:
        return None

    async with (
        await asyncio.start_server(hang_up, "127.0.0.1", postgres),
        await asyncio.start_server(hang_up, "127.0.0.1", nats),
        watched(settings, [], partial(serve_monitor, settings, missing)),
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{metrics}", trust_env=False, timeout=20) as http,
    ):
        await http.get("/health/live")
        await asyncio.sleep(1)
        assert calls == []
        replies = await asyncio.gather(http.get("/status.json"), http.get("/status.json"), http.get("/status"))
        assert {reply.status_code for reply in replies} == {200}
        assert replies[0].json() == replies[1].json()
        assert sorted(calls) == sorted([postgres, nats])
