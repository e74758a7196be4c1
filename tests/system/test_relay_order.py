"""Everyday work of the relay: shards, transient events, foreign messages, an idle slot, metrics and health."""

import asyncio
import itertools
import time
from collections.abc import Callable

import httpx
import pytest

from tertulia.engines import free_port
from tertulia.events.log.stream import transient_subject
from tests.system.relay_load import EMIT, Load, name_of
from tests.system.relay_site import SHARDS, Site, database, eventually, make_site, relay_postgres, site

__all__ = ["make_site", "relay_postgres", "site"]
pytestmark = pytest.mark.system


async def test_each_realm_is_in_its_shard_and_every_shard_has_its_realms(site: Site) -> None:
    load = Load(site, writers=4)
    await site.start_first_relay()
    async with load.running():
        await load.wait_for(300)
    stored = await load.check()
    assert sorted(stored) == list(range(SHARDS))
    for shard, events in stored.items():
        assert {one.subject for one in events} == {f"ev.{shard}.{realm}" for realm in range(shard, 12, SHARDS)}


async def test_the_events_of_a_transaction_stay_together_and_in_order(site: Site) -> None:
    await site.start_first_relay()
    names = [f"00-{number:07d}" for number in range(1500)]
    async with database(site) as connection:
        await connection.execute("create table sent (name text primary key)")
        await connection.execute(EMIT, names, ["ev.0.0"] * len(names))

    async def arrived() -> bool:
        return await site.count() == len(names)

    await eventually(arrived)
    events = (await site.stored())[0]
    assert [name_of(one) for one in events] == names
    assert len({one.pos[:16] for one in events}) == len({one.xid for one in events}) == 1
    assert [int(one.pos[17:]) for one in events] == list(range(len(names)))


async def test_rolled_back_transactions_leave_nothing(site: Site) -> None:
    await site.start_first_relay()
    async with database(site) as connection:
        await connection.execute("create table sent (name text primary key)")
        transaction = connection.transaction()
        await transaction.start()
        await connection.execute(EMIT, ["00-1"], ["ev.0.0"])
        await transaction.rollback()
        await connection.execute(EMIT, ["00-2"], ["ev.0.0"])

    async def arrived() -> bool:
        return await site.count() == 1

    await eventually(arrived)
    assert [name_of(one) for one in (await site.stored())[0]] == ["00-2"]


async def test_a_transient_event_has_a_place_in_the_order(site: Site) -> None:
    load = Load(site, writers=3)
    await site.start_first_relay()
    sent = 0
    async with site.watched(), load.running(), site.connected() as nc:
        for number in range(60):
            await nc.publish(transient_subject(number % SHARDS, number % SHARDS), b'{"typing": %d}' % number)
            sent += 1
            await asyncio.sleep(0.005)
        await nc.flush()
        await load.wait_for(50)
    stored = await load.check(transient=sent)
    transient = [one for events in stored.values() for one in events if one.xid is None]
    assert sorted(one.data for one in transient) == sorted(b'{"typing": %d}' % number for number in range(sent))
    for events in stored.values():
        for before, one in itertools.pairwise(events):
            if one.xid is None:
                assert (one.pos, one.xmax) == (before.pos, before.xmax)
            else:
                assert one.pos > before.pos


async def test_a_transient_event_may_be_the_first_of_all(site: Site) -> None:
    relay = await site.start_first_relay()
    async with site.connected() as nc:

        async def stored() -> bool:
            await nc.publish(transient_subject(0, 0), b"{}")
            return await site.count() > 0

        await eventually(stored)
    relay.kill()
    site.start_relay()
    load = Load(site, writers=1)
    async with load.running():
        await load.wait_for(20)
    await load.check(transient=1)
    record = await site.epoch()
    assert record is not None
    assert record.epoch == 1


async def test_messages_that_are_no_events_or_malformed_ones_do_not_stop_the_relay(site: Site) -> None:
    await site.start_first_relay()
    async with database(site) as connection:
        for prefix, content in [
            ("other", "1 {}"),
            ("ev.0.1", "no transaction id"),
            ("ev.99.1", "1 {}"),
            ("ev.0.>", "1 {}"),
            ("ev.0.1.2", "1 {}"),
            ("ev.0. 1", "1 {}"),
            ("ev.0.1", ""),
            ("tertulia.relay", "\u00e9"),
        ]:
            await connection.execute("select pg_logical_emit_message(true, $1::text, $2::text)", prefix, content)
            await connection.execute("select pg_logical_emit_message(false, $1::text, $2::text)", prefix, content)
    load = Load(site, writers=1)
    async with load.running():
        await load.wait_for(20)
    await load.check()


async def test_an_event_too_large_for_nats_keeps_its_place_and_is_empty(site: Site) -> None:
    await site.start_first_relay()
    emit = "select pg_logical_emit_message(true, 'ev.0.0', pg_current_xact_id()::text || ' ' || $1::text)"
    async with database(site) as connection:
        for size in (10, 9_000_000, 10):
            await connection.execute(emit, "x" * size)

    async def arrived() -> bool:
        return await site.count() == 3

    await eventually(arrived)
    assert [len(one.data) for one in (await site.stored())[0]] == [10, 0, 10]


async def test_an_idle_slot_does_not_hold_the_log_of_others(make_site: Callable[..., Site]) -> None:
    site = make_site(nats_sync_seconds=0, confirm_after_seconds=0.2)
    load = Load(site, writers=1)
    await site.start_first_relay()
    async with load.running():
        await load.wait_for(20)
    async with database(site) as connection:
        await connection.execute(
            "create table foreign_traffic as select repeat('x', 1000) from generate_series(1, 20000)"
        )
        target = await connection.fetchval("select pg_current_wal_flush_lsn()::text")
        confirmed = (
            "select confirmed_flush_lsn >= $2::text::pg_lsn - 1048576 from pg_replication_slots where slot_name = $1"
        )

        async def advanced() -> bool:
            return bool(await connection.fetchval(confirmed, site.settings.slot, target))

        await eventually(advanced)


async def test_nothing_is_confirmed_before_it_has_rested(make_site: Callable[..., Site]) -> None:
    site = make_site(nats_sync_seconds=1, confirm_after_seconds=4.0)
    await site.start_first_relay()
    query = "select confirmed_flush_lsn >= $2::text::pg_lsn from pg_replication_slots where slot_name = $1"
    load = Load(site, writers=1)
    async with load.running(), database(site) as connection:
        begun = time.monotonic()
        await load.wait_for(20)
        end = await connection.fetchval("select pg_current_wal_insert_lsn()::text")

        async def confirmed() -> bool:
            return bool(await connection.fetchval(query, site.settings.slot, end))

        await eventually(confirmed)
        assert time.monotonic() - begun > site.settings.confirm_after_seconds


async def test_the_relay_tells_how_it_is(make_site: Callable[..., Site]) -> None:
    port = free_port()
    site = make_site(metrics_port=port)
    load = Load(site, writers=1)
    await site.start_first_relay()
    stand_by = free_port()
    site.start_relay(TERTULIA_METRICS_PORT=str(stand_by))
    await site.wait_for_log("stand-by")
    async with load.running():
        await load.wait_for(50)
    await load.check()
    await asyncio.sleep(1.5)
    async with httpx.AsyncClient() as client:
        for one in (port, stand_by):
            assert (await client.get(f"http://127.0.0.1:{one}/health/live")).status_code == 200
            assert (await client.get(f"http://127.0.0.1:{one}/health/ready")).status_code == 200
        assert (await client.get(f"http://127.0.0.1:{port}/else")).status_code == 404
        text = (await client.get(f"http://127.0.0.1:{port}/metrics")).text
        values = dict(line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("tertulia_relay"))
        assert float(values["tertulia_relay_active"]) == 1
        assert float(values["tertulia_relay_epoch"]) == 1
        assert float(values["tertulia_relay_lag_seconds"]) == 0
        assert float(values["tertulia_relay_lag_bytes"]) < 10_000
        assert float(values['tertulia_relay_events_total{kind="durable"}']) == await site.count()
        assert "tertulia_relay_active 0.0" in (await client.get(f"http://127.0.0.1:{stand_by}/metrics")).text
        site.nats.kill()
        await asyncio.sleep(1)
        assert (await client.get(f"http://127.0.0.1:{port}/health/ready")).status_code == 503
        site.nats.start()
