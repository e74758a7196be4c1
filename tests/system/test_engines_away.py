"""Engines that are away when a process starts, or go away later: what it answers, what it measures, and what its log says."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from tertulia.engines import free_port
from tests.system.relay_site import Site, administer, eventually, make_site, relay_postgres, site

__all__ = ["make_site", "relay_postgres", "site"]
pytestmark = pytest.mark.system


async def ask(port: int, path: str) -> httpx.Response | None:
    async with httpx.AsyncClient(trust_env=False, timeout=10) as client:
        try:
            return await client.get(f"http://127.0.0.1:{port}{path}")
        except httpx.TransportError:
            return None


async def lag(port: int) -> dict[str, float]:
    """Both gauges, without their common beginning."""
    reply = await ask(port, "/metrics")
    assert reply is not None
    return {name: float(value) for name, value in re.findall(r"^tertulia_relay_lag_(\w+) (\S+)$", reply.text, re.M)}


def logged(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


async def test_a_relay_without_nats_tells_how_much_waits_and_since_when(site: Site) -> None:
    port = free_port()
    site.start_process("relay", TERTULIA_METRICS_PORT=str(port))

    async def is_whole() -> bool:
        reply = await ask(port, "/health/ready")
        return reply is not None and reply.status_code == 200 and (await lag(port))["seconds"] < 1

    async def is_behind() -> bool:
        found = await lag(port)
        return found["seconds"] > 5 and found["bytes"] > 100_000

    await eventually(is_whole)
    site.nats.stop()
    content = "{" + " " * 100_000 + "}"
    administer(site.postgres, f"select pg_logical_emit_message(true, 'ev.0.0', '7 {content}')", site.database)
    await eventually(is_behind, 30)
    site.nats.start()
    await eventually(is_whole)
    said = [line for line in logged(site.folder / "relay.log") if line["event"] == "an engine is away"]
    assert {line["address"] for line in said} == {f"nats://127.0.0.1:{site.nats.port}"}
    assert len(said) <= 3


@pytest.mark.parametrize("engine", ["NATS", "PostgreSQL"])
async def test_a_web_process_answers_before_its_engines_are_there(site: Site, engine: str) -> None:
    nobody = free_port()
    wrong = {
        "NATS": {"TERTULIA_NATS_URL": f"nats://tertulia:secret@127.0.0.1:{nobody}"},
        "PostgreSQL": {"TERTULIA_POSTGRES_URL": f"postgresql://tertulia:secret@127.0.0.1:{nobody}/chat"},
    }[engine]
    port, metrics = free_port(), free_port()
    started = site.start_process("web", TERTULIA_PORT=str(port), TERTULIA_METRICS_PORT=str(metrics), **wrong)
    reply = await eventually(lambda: ask(port, "/api/v1/server_settings"))
    assert (reply.status_code, reply.json()["code"]) == (503, "SERVER_NOT_READY")
    assert int(reply.headers["retry-after"]) >= 1
    assert [
        getattr(await ask(metrics, f"/health/{name}"), "status_code", 0) for name in ("live", "serving", "ready")
    ] == [
        200,
        503,
        503,
    ]
    log = site.folder / "web.log"

    async def has_waited() -> bool:
        return len(log.read_text()) > 0

    await eventually(has_waited)
    await asyncio.sleep(4)
    said = [line for line in logged(log) if line["event"] == "an engine is away"]
    assert 1 <= len(said) <= 2
    assert {(line["engine"], f"127.0.0.1:{nobody}" in line["address"]) for line in said} == {(engine, True)}
    assert "secret" not in log.read_text()
    started.stop(seconds=10)
    assert started.exit_code == 0, "it stops while it waits"


async def test_a_web_process_goes_on_serving_while_nats_is_away(site: Site) -> None:
    metrics = free_port()
    site.start_process("relay")
    site.start_process("web", TERTULIA_PORT=str(free_port()), TERTULIA_METRICS_PORT=str(metrics))

    async def health() -> tuple[int, int]:
        replies = [await ask(metrics, f"/health/{name}") for name in ("serving", "ready")]
        return tuple(reply.status_code if reply else 0 for reply in replies)  # type: ignore[return-value]

    async def is_ready() -> bool:
        return await health() == (200, 200)

    async def serves_without_events() -> bool:
        return await health() == (200, 503)

    await eventually(is_ready)
    site.nats.stop()
    await eventually(serves_without_events)
    site.nats.start()
    await eventually(is_ready)
