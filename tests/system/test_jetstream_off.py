"""Processes that say whether they can work: also when NATS takes connections and JetStream does not do its part."""

import asyncio
import time

import httpx
import pytest

from tertulia.engines import free_port
from tertulia.engines import nats as nats_engine
from tests.system.relay_load import Load
from tests.system.relay_site import Site, eventually, make_site, relay_postgres, site
from tests.system.small_disk import MIB, fill, small_disk

__all__ = ["make_site", "relay_postgres", "site"]
pytestmark = pytest.mark.system

WITH_JETSTREAM = nats_engine._CONFIGURATION
WITHOUT_JETSTREAM = "\n".join(line for line in WITH_JETSTREAM.splitlines() if not line.startswith("jetstream"))
WITH_LITTLE_ROOM = WITH_JETSTREAM.replace("jetstream {{", "jetstream {{ max_file: 300KB, ")
BALANCER_SECONDS = 2.0


class Asked:
    """The health of a process, asked for as a balancer does."""

    def __init__(self) -> None:
        self.port = free_port()
        self._late = 0
        self.was_out = False
        """Whether it was late twice in a row: then a balancer takes a process out (`fall 2`). Once may be the machine."""

    async def ready(self) -> str | None:
        """`ready`, or nothing."""
        return "ready" if await self._ask() == (200, "ready\n") else None

    async def waiting(self) -> str | None:
        """What it waits for; nothing if it is ready."""
        status, said = await self._ask()
        return said if status == 503 else None

    async def stores_nothing(self) -> str | None:
        """What it waits for, if that is that events are stored again."""
        said = await self.waiting()
        return said if said and "stores no events" in said else None

    async def _ask(self) -> tuple[int, str]:
        async with httpx.AsyncClient(trust_env=False, timeout=10) as client:
            begun = time.monotonic()
            try:
                reply = await client.get(f"http://127.0.0.1:{self.port}/health/ready")
            except httpx.TransportError:  # it starts
                return 0, ""
        self._late = self._late + 1 if time.monotonic() - begun > BALANCER_SECONDS else 0
        self.was_out = self.was_out or self._late == 2
        return reply.status_code, reply.text


def start(site: Site, *names: str, **changed: str) -> list[Asked]:
    """Processes, each with a port for its health."""
    started = [Asked() for _ in names]
    for name, asked in zip(names, started, strict=True):
        site.start_process(name, TERTULIA_METRICS_PORT=str(asked.port), TERTULIA_PORT=str(free_port()), **changed)
    return started


def restart_nats(site: Site, configuration: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nats_engine, "_CONFIGURATION", configuration)
    site.nats.restart()


@pytest.mark.timed
async def test_web_and_relays_are_not_ready_while_jetstream_is_off(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    processes = start(site, "relay", "relay", "web")
    for asked in processes:
        await eventually(asked.ready)
    restart_nats(site, WITHOUT_JETSTREAM, monkeypatch)
    for asked in processes:
        await eventually(asked.waiting)
    for _ in range(10):  # none of them takes it back
        assert all([await asked.waiting() for asked in processes])
        await asyncio.sleep(0.2)
    assert "JetStream" in (await processes[2].waiting() or "")
    assert "WRONG   NATS: JetStream is off" in site.run_command("doctor")
    restart_nats(site, WITH_JETSTREAM, monkeypatch)
    for asked in processes:
        await eventually(asked.ready)
        assert not asked.was_out
    assert " NATS: version" in site.run_command("doctor")


async def test_the_relay_is_not_ready_while_jetstream_has_no_room(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    restart_nats(site, WITH_LITTLE_ROOM, monkeypatch)
    [relay] = start(site, "relay")
    await eventually(relay.ready)
    load = Load(site, writers=4)
    async with load.running():
        await eventually(relay.waiting)
        said = site.run_command("doctor", TERTULIA_METRICS_PORT=str(relay.port))
    assert "JetStream stores nothing" in said
    restart_nats(site, WITH_JETSTREAM, monkeypatch)
    await eventually(relay.ready)
    await load.check()


@pytest.mark.slow
async def test_after_a_full_disk_the_relay_is_not_ready_until_nats_was_restarted(site: Site) -> None:
    site.nats.stop()
    with small_disk(site.nats.folder / "store", 64 * MIB) as disk:
        site.nats.start()
        [relay] = start(site, "relay")
        await eventually(relay.ready)
        load = Load(site, writers=4)
        ballast = disk / "ballast"
        async with load.running():
            await load.wait_for(50)
            fill(ballast)
            await eventually(relay.stores_nothing)
            ballast.unlink()
        said = site.run_command("doctor", TERTULIA_METRICS_PORT=str(relay.port))
        for _ in range(40):  # room alone does not help
            assert await relay.waiting()
            await asyncio.sleep(0.2)
        assert "WRONG   processes" in said
        site.nats.restart()
        await eventually(relay.ready)
        await load.check()
        for process in site.relays:
            process.kill()
        site.nats.stop()


async def test_a_worker_is_not_ready_while_postgresql_is_away(site: Site) -> None:
    [worker] = start(site, "worker")
    await eventually(worker.ready)
    site.postgres.stop()
    assert "PostgreSQL" in await eventually(worker.waiting)
    site.postgres.start()
    await eventually(worker.ready)
