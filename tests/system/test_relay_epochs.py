"""What the relay does when the chain is broken, or looks broken: replay with the same numbers, or a new epoch, soon."""

import asyncio
from collections.abc import Callable
from typing import Any

import asyncpg
import pytest
from nats.aio.client import Client

from tertulia.events.log.buckets import QUEUE_BUCKET, STATE_BUCKET
from tertulia.events.log.epoch import EpochRecord
from tertulia.events.log.jetstream import STREAM_NOT_FOUND, call_api, delete_stream
from tertulia.events.log.stream import stream_name
from tests.system.relay_load import Load, name_of
from tests.system.relay_site import Site, administer, database, eventually, make_site, relay_postgres, site

__all__ = ["make_site", "relay_postgres", "site"]
pytestmark = pytest.mark.system


async def test_a_tail_that_nats_lost_is_replayed_with_the_same_sequence_numbers(site: Site) -> None:
    load = Load(site, writers=3)
    await site.start_first_relay()
    async with site.watched(), load.running():
        await load.wait_for(200)
        await asyncio.sleep(1.5)
        site.nats.stop()
        older = site.copy_store()
        site.nats.start()
        await load.wait_for(400)
    before = await load.check()
    await asyncio.sleep(1.5)
    site.nats.kill()
    site.replace_store(older)
    site.nats.start()
    after = await load.check()
    assert after == before
    assert "tail lost" in site.log()
    assert await epoch_of(site) == 1


async def test_streams_are_compressed_also_those_of_before(site: Site) -> None:
    load = Load(site, writers=2)
    relay = await site.start_first_relay()
    async with site.connected() as nc, load.running():
        await load.wait_for(50)
        relay.kill()
        configs = [await config_of(nc, shard) for shard in range(site.settings.shards)]
        assert {config.get("compression") for config in configs} == {"s2"}
        for config in configs:
            await call_api(nc, f"STREAM.UPDATE.{config['name']}", {**config, "compression": "none"})
        site.start_relay()
        await load.wait_for(50)

        async def are_as_before() -> bool:
            return [await config_of(nc, shard) for shard in range(site.settings.shards)] == configs

        await eventually(are_as_before)
    await load.check()
    assert await epoch_of(site) == 1


async def config_of(nc: Client, shard: int) -> dict[str, Any]:
    answer = await call_api(nc, f"STREAM.INFO.{stream_name(shard, 1)}")
    assert answer is not None
    found: dict[str, Any] = answer["config"]
    return found


async def test_a_lost_tail_is_replayed_by_a_relay_that_does_not_remember_it(site: Site) -> None:
    load = Load(site, writers=3)
    relay = await site.start_first_relay()
    async with load.running():
        await load.wait_for(100)
        await asyncio.sleep(1.5)
        site.nats.stop()
        older = site.copy_store()
        site.nats.start()
        await load.wait_for(300)
    before = await load.check()
    relay.kill()
    site.nats.kill()
    site.replace_store(older)
    site.nats.start()
    site.start_relay()
    assert await load.check() == before
    assert await epoch_of(site) == 1


async def test_a_lost_tail_that_the_slot_has_forgotten_opens_a_new_epoch(make_site: Callable[..., Site]) -> None:
    site = make_site(nats_sync_seconds=0, confirm_after_seconds=0.1)
    load = Load(site, writers=2)
    await site.start_first_relay()
    async with load.running():
        await load.wait_for(100)
        await asyncio.sleep(1.5)
        site.nats.stop()
        older = site.copy_store()
        site.nats.start()
        await load.wait_for(300)
    await load.check()
    await asyncio.sleep(4)
    old = await greatest(site)
    site.nats.kill()
    site.replace_store(older)
    site.nats.start()
    check_above(await site.wait_for_epoch(1), old)


async def test_a_deleted_stream_on_an_idle_server_opens_a_new_epoch_within_seconds(site: Site) -> None:
    old = await some_events(site)
    async with site.connected() as nc:
        assert await delete_stream(nc, "EV_1_1")
    check_above(await site.wait_for_epoch(1), old)
    await still_works(site)


async def test_a_purged_stream_opens_a_new_epoch_within_seconds(site: Site) -> None:
    old = await some_events(site)
    async with site.connected() as nc:
        await call_api(nc, "STREAM.PURGE.EV_0_1")
    check_above(await site.wait_for_epoch(1), old)
    await still_works(site)


@pytest.mark.parametrize("bucket", [STATE_BUCKET, QUEUE_BUCKET])
async def test_a_deleted_bucket_is_there_again_within_seconds_and_the_epoch_goes_on(site: Site, bucket: str) -> None:
    await some_events(site)
    before = await epoch_of(site)
    async with site.connected() as nc:
        assert await delete_stream(nc, f"KV_{bucket}")

        async def is_back() -> bool:
            return await call_api(nc, f"STREAM.INFO.KV_{bucket}", missing=[STREAM_NOT_FOUND]) is not None

        await eventually(is_back)
    await still_works(site)
    assert await epoch_of(site) == before


async def test_a_nats_folder_that_was_wiped_ends_in_a_new_epoch(site: Site) -> None:
    old = await some_events(site)
    site.nats.kill()
    site.replace_store(None)
    site.nats.start()
    check_above(await site.wait_for_epoch(1), old)
    await still_works(site)


async def test_a_stream_wiped_while_the_relay_was_down_opens_a_new_epoch(site: Site) -> None:
    old = await some_events(site)
    site.relays[-1].kill()
    async with site.connected() as nc:
        await delete_stream(nc, "EV_2_1")
    site.start_relay()
    check_above(await site.wait_for_epoch(1), old)


async def test_a_stranger_in_the_stream_opens_a_new_epoch(site: Site) -> None:
    old = await some_events(site)
    async with site.connected() as nc:
        await nc.request("ev.1.1", b"{}")
        load = Load(site, writers=1)
        async with load.running():
            check_above(await site.wait_for_epoch(1), old)


async def test_a_slot_dropped_behind_the_relays_back_opens_a_new_epoch(site: Site) -> None:
    old = await some_events(site)
    site.relays[-1].kill()
    await drop_slot(site)
    site.start_relay()
    check_above(await site.wait_for_epoch(1), old)
    await still_works(site)


async def test_a_slot_dropped_and_made_again_by_hand_is_noticed(site: Site) -> None:
    old = await some_events(site)
    site.relays[-1].kill()
    await drop_slot(site)
    make = f"select pg_create_logical_replication_slot('{site.settings.slot}', 'pgoutput')"
    administer(site.postgres, make, site.database)
    site.start_relay()
    check_above(await site.wait_for_epoch(1), old)


@pytest.mark.parametrize("change", ["system_identifier = '1'", "timeline = 7"])
async def test_another_database_behind_the_same_address_opens_a_new_epoch(site: Site, change: str) -> None:
    old = await some_events(site)
    site.relays[-1].kill()
    administer(site.postgres, f"update relay_state set {change}", site.database)
    site.start_relay()
    check_above(await site.wait_for_epoch(1), old)


async def test_a_database_restored_from_nothing_beside_an_old_nats_begins_above_it(site: Site) -> None:
    old = await some_events(site)
    site.relays[-1].kill()
    await drop_slot(site)
    administer(site.postgres, "delete from relay_state; delete from relay_checkpoint", site.database)
    site.start_relay()
    check_above(await site.wait_for_epoch(1), old)


async def test_an_unannounced_epoch_with_whole_streams_is_announced_not_replaced(site: Site) -> None:
    await some_events(site)
    site.relays[-1].kill()
    async with site.connected() as nc:
        await delete_stream(nc, "KV_TERTULIA_STATE")
    site.start_relay()
    assert (await site.wait_for_epoch(0)).epoch == 1
    await still_works(site)


@pytest.mark.parametrize("step", ["begun", "deleted", "created"])
async def test_a_relay_that_dies_while_it_opens_an_epoch_leaves_nothing_the_next_one_cannot_finish(
    site: Site, step: str
) -> None:
    """The states a crash can leave are made by hand, from the end of an opening back to each step."""
    old = await some_events(site)
    site.relays[-1].kill()
    async with site.connected() as nc:
        if step == "begun":
            administer(site.postgres, "update relay_state set epoch = 2; delete from relay_checkpoint", site.database)
        else:
            await delete_stream(nc, "EV_0_1")
            site.start_relay()
            await site.wait_for_epoch(1)
            site.relays[-1].kill()
            await delete_stream(nc, "KV_TERTULIA_STATE")
            if step == "deleted":
                await delete_stream(nc, "EV_1_2")
    site.start_relay()
    record = await site.wait_for_epoch(1)
    assert record.epoch == (2 if step == "created" else 3)
    check_above(record, old)
    await still_works(site)


async def test_events_committed_while_an_epoch_is_opened_are_in_the_new_one(site: Site) -> None:
    load = Load(site, writers=2)
    await site.start_first_relay()
    async with load.running():
        await load.wait_for(100)
        async with site.connected() as nc:
            await delete_stream(nc, "EV_0_1")
        await site.wait_for_epoch(1)
        known = await load.names()
        await load.wait_for(200)
    later = await load.names() - known

    async def arrived() -> bool:
        stored = await site.stored()
        return later <= {name_of(one) for events in stored.values() for one in events}

    await eventually(arrived)


async def some_events(site: Site) -> int:
    """Start a relay, store some events; the greatest sequence number."""
    load = Load(site, writers=2)
    await site.start_first_relay()
    async with load.running():
        await load.wait_for(50)
    await load.check()
    await asyncio.sleep(1.2)  # a checkpoint is written every second
    return await greatest(site)


async def still_works(site: Site) -> None:
    before = await site.count()
    load = Load(site, writers=1)
    administer(site.postgres, "truncate sent", site.database)
    async with load.running():
        await load.wait_for(20)

    async def arrived() -> bool:
        return await site.count() >= before + 20

    await eventually(arrived)


async def greatest(site: Site) -> int:
    return max(events[-1].seq for events in (await site.stored()).values() if events)


async def drop_slot(site: Site) -> None:
    async def dropped() -> bool:
        async with database(site) as connection:
            try:
                await connection.execute("select pg_drop_replication_slot($1)", site.settings.slot)
            except asyncpg.ObjectInUseError:
                return False
        return True

    await eventually(dropped)


def check_above(record: EpochRecord, old: int) -> None:
    assert all(stream.first_seq > old for stream in record.streams.values())


async def epoch_of(site: Site) -> int:
    record = await site.epoch()
    assert record is not None
    return record.epoch
