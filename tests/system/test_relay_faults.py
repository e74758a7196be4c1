"""The relay under fire: whatever is killed, paused or cut off, each committed event is stored once and in order."""

import asyncio
import random
import signal
from collections.abc import Callable

import pytest

from tests.system.relay_load import Load
from tests.system.relay_site import Site, database, eventually, make_site, relay_postgres, site

__all__ = ["make_site", "relay_postgres", "site"]
pytestmark = pytest.mark.system


async def test_a_relay_killed_again_and_again_under_load_loses_and_doubles_nothing(site: Site) -> None:
    load = Load(site, writers=4)
    relay = await site.start_first_relay()
    async with site.watched(), load.running():
        for _ in range(6):
            await load.wait_for(100)
            await asyncio.sleep(random.uniform(0.0, 0.6))
            relay.kill()
            relay = site.start_relay()
        await load.wait_for(100)
    await load.check()
    assert await epoch_of(site) == 1


async def test_a_paused_relay_that_wakes_beside_its_successor_stores_nothing(site: Site) -> None:
    load = Load(site, writers=4)
    sleeper = await site.start_first_relay()
    successor = site.start_relay()
    await site.wait_for_log("stand-by")
    async with site.watched(), load.running():
        for _ in range(2):
            await load.wait_for(200)
            sleeper.send_signal(signal.SIGSTOP)
            await free_slot(site)
            await load.wait_for(500)
            sleeper.send_signal(signal.SIGCONT)
            await load.wait_for(500)
            sleeper, successor = successor, sleeper
    await load.check()
    assert await epoch_of(site) == 1


async def test_nats_killed_under_load_loses_and_doubles_nothing(site: Site) -> None:
    load = Load(site, writers=4)
    await site.start_first_relay()
    async with site.watched(), load.running():
        for _ in range(3):
            await load.wait_for(300)
            site.nats.kill()
            await load.wait_for(100)
            site.nats.start()
            await load.wait_for(300)
    await load.check()
    assert await epoch_of(site) == 1


async def test_postgres_killed_under_load_loses_and_doubles_nothing(site: Site) -> None:
    load = Load(site, writers=4)
    await site.start_first_relay()
    async with site.watched(), load.running():
        for _ in range(2):
            await load.wait_for(300)
            site.postgres.kill()
            await asyncio.sleep(0.5)
            site.postgres.start()
            await load.wait_for(300)
    await load.check()
    assert await epoch_of(site) == 1


async def test_a_nats_server_that_hangs_for_longer_than_the_acknowledgement_timeout_does_no_harm(site: Site) -> None:
    load = Load(site, writers=2)
    await site.start_first_relay()
    async with load.running():
        await load.wait_for(100)
        site.nats.process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(7)
        site.nats.process.send_signal(signal.SIGCONT)
        await load.wait_for(100)
    await load.check()
    assert "no acknowledgement" in site.log() or "session ended" in site.log()


async def test_the_second_relay_takes_over_within_seconds(site: Site) -> None:
    load = Load(site, writers=2)
    first = await site.start_first_relay()
    site.start_relay()
    await site.wait_for_log("stand-by")
    async with load.running():
        await load.wait_for(100)
        first.kill()
        before = await site.count()

        async def taken_over() -> bool:
            return await site.count() > before

        await eventually(taken_over, 5)
    await load.check()


async def test_a_relay_asked_to_stop_leaves_everything_stored_and_written_down(site: Site) -> None:
    load = Load(site, writers=2)
    relay = await site.start_first_relay()
    async with load.running():
        await load.wait_for(200)
    await asyncio.sleep(0.5)
    relay.stop(seconds=5)
    assert relay.exit_code == 0
    stored = await load.check()
    async with database(site) as connection:
        marks = dict(await connection.fetch("select shard, seq from relay_checkpoint where shard >= 0"))
    assert marks == {shard: events[-1].seq for shard, events in stored.items()}


async def test_postgres_is_not_kept_from_stopping_by_a_relay_that_has_not_confirmed_yet(
    make_site: Callable[..., Site],
) -> None:
    site = make_site(confirm_after_seconds=60.0)
    load = Load(site, writers=2)
    await site.start_first_relay()
    async with load.running():
        await load.wait_for(100)
    started = asyncio.get_running_loop().time()
    await asyncio.to_thread(site.postgres.stop)
    assert asyncio.get_running_loop().time() - started < 5
    site.postgres.start()
    await load.check()


async def epoch_of(site: Site) -> int:
    record = await site.epoch()
    assert record is not None
    return record.epoch


async def free_slot(site: Site) -> None:
    """End the sender of the relay that sleeps, as its time-out would after some seconds."""
    query = "select active_pid from pg_replication_slots where slot_name = $1"
    async with database(site) as connection:
        holder = await connection.fetchval(query, site.settings.slot)
        await connection.execute("select pg_terminate_backend($1)", holder)

        async def taken() -> bool:
            return await connection.fetchval(query, site.settings.slot) not in (None, holder)

        await eventually(taken)
