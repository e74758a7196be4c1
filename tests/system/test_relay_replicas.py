"""Settings of streams and buckets that exist already follow those of the relay."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tertulia.engines import ChildProcess, Postgres
from tertulia.events.log.jetstream import StreamUnavailable, call_api
from tests.system.nats_cluster import NatsCluster
from tests.system.relay_load import Load
from tests.system.relay_site import SHARDS, Site, database, eventually, relay_postgres

__all__ = ["relay_postgres"]
pytestmark = [pytest.mark.system, pytest.mark.slow, pytest.mark.timeout(240)]
NAMES = [*(f"EV_{shard}_1" for shard in range(SHARDS)), "KV_TERTULIA_STATE", "KV_TERTULIA_QUEUES"]


class ClusterSite(Site):
    """One whose NATS is a cluster."""

    def __init__(self, postgres: Postgres, folder: Path) -> None:
        super().__init__(postgres, folder)
        self.nats = NatsCluster(folder)  # type: ignore[assignment]


@pytest.fixture
def site(relay_postgres: Postgres, tmp_path: Path) -> Iterator[ClusterSite]:
    site = ClusterSite(relay_postgres, tmp_path)
    site.start()
    try:
        yield site
    finally:
        site.stop()


async def test_raised_replicas_and_retention_reach_the_streams_and_buckets_that_exist(site: ClusterSite) -> None:
    load = Load(site, writers=2)
    relay = await site.start_first_relay()
    async with load.running():
        await load.wait_for(50)
        await eventually(lambda: have(site, lambda config: config["num_replicas"] == 1))
        relay.kill()
        site.start_relay(TERTULIA_NATS_REPLICAS="3", TERTULIA_EVENT_RETENTION_SECONDS="86400")
        await eventually(lambda: have(site, lambda config: config["num_replicas"] == 3))
        await load.wait_for(50)
    await load.check()
    record = await site.epoch()
    assert record is not None
    assert record.epoch == 1
    assert {config["max_age"] for config in await configs(site) if config["name"].startswith("EV")} == {86400 * 10**9}


async def test_a_relay_whose_nats_server_is_cut_off_from_the_others_leaves_the_slot_to_one_who_can_store(
    site: ClusterSite,
) -> None:
    """Such a server answers for a while as if it were the leader still."""
    relay = site.start_relay(TERTULIA_NATS_REPLICAS="3")
    await site.wait_for_log("caught up")
    await eventually(lambda: have(site, lambda config: config["num_replicas"] == 3))
    leader, others = await leader_of_state(site)
    relay.kill()
    for other in others:
        other.send_signal(signal.SIGSTOP)
    try:
        site.start_relay(TERTULIA_NATS_URL=leader)
        for _ in range(20):
            assert not await is_slot_taken(site)
            await asyncio.sleep(0.2)
    finally:
        for other in others:
            other.send_signal(signal.SIGCONT)
    await eventually(lambda: is_slot_taken(site))


async def leader_of_state(site: ClusterSite) -> tuple[str, list[ChildProcess]]:
    """Its address, and the two servers beside it."""
    async with site.connected() as nc:
        answer = await call_api(nc, "STREAM.INFO.KV_TERTULIA_STATE")
    assert answer is not None
    port = answer["cluster"]["leader"].removeprefix("n")
    nats: Any = site.nats
    addresses = dict(zip(nats.url.split(","), nats.servers, strict=True))
    [url] = [url for url in addresses if url.endswith(f":{port}")]
    return url, [server for address, server in addresses.items() if address != url]


async def is_slot_taken(site: ClusterSite) -> bool:
    async with database(site) as pg:
        return bool(
            await pg.fetchval("select active from pg_replication_slots where slot_name = $1", site.settings.slot)
        )


async def have(site: ClusterSite, check: Callable[[dict[str, Any]], bool]) -> bool:
    try:
        return all(map(check, await configs(site)))
    except StreamUnavailable:  # a node that is asked may not have heard of a new stream yet
        return False


async def configs(site: ClusterSite) -> list[dict[str, Any]]:
    async with site.connected() as nc:
        answers = [await call_api(nc, f"STREAM.INFO.{name}") for name in NAMES]
    return [answer["config"] for answer in answers if answer is not None]
