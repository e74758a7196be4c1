"""A standby is promoted: queues live on if it has everything, and only then. An old primary is left alone."""

import asyncio
import json
from collections.abc import Callable

import pytest

from tertulia.engines import find_postgres
from tertulia.engines.find import postgres_version
from tertulia.kernel.settings import load_settings
from tests.system.pair_site import PairSite, make_pair, pair
from tests.system.postgres_node import SLOTS_ARE_SYNCHRONISED_SINCE, Node
from tests.system.relay_load import Load, name_of
from tests.system.relay_site import administer, eventually
from tests.system.test_relay_epochs import check_above, epoch_of, greatest, still_works

__all__ = ["make_pair", "pair"]
pytestmark = [pytest.mark.system, pytest.mark.slow, pytest.mark.timeout(300)]


if (postgres_version(find_postgres(load_settings())) or 0) < SLOTS_ARE_SYNCHRONISED_SINCE:
    pytest.skip("before 17 a standby has no copy of the slot", allow_module_level=True)


async def test_events_go_on_under_the_same_numbers_after_a_fail_over(pair: PairSite) -> None:
    load = Load(pair, writers=3)
    await pair.start_first_relay()
    async with pair.watched(), load.running():
        await load.wait_for(60)
        await pair.ready_for_failover()
        pair.fail_over()
        await load.wait_for(60)
    await load.check()
    assert await epoch_of(pair) == 1
    assert "nothing was lost" in pair.log()
    timelines = {one.timeline for events in (await pair.stored()).values() for one in events}
    assert timelines == {1, 2}


async def test_relays_that_died_with_the_primary_go_on_too(pair: PairSite) -> None:
    """Only NATS and the promoted database speak then."""
    load = Load(pair, writers=2)
    relays = [await pair.start_first_relay(), pair.start_relay()]
    async with pair.watched(), load.running():
        await load.wait_for(40)
        await pair.ready_for_failover()
        for relay in relays:
            relay.kill()
        pair.fail_over()
        await load.wait_for(30)
        pair.start_relay()
        await load.wait_for(30)
    await load.check()
    assert await epoch_of(pair) == 1


async def test_a_second_promotion_is_survived_like_the_first(pair: PairSite) -> None:
    load = Load(pair, writers=2)
    await pair.start_first_relay()
    async with pair.watched(), load.running():
        await load.wait_for(30)
        await pair.ready_for_failover()
        pair.fail_over()
        await load.wait_for(30)
        pair.add_standby()
        await load.wait_for(30)
        await pair.ready_for_failover()
        pair.fail_over()
        await load.wait_for(30)
    await load.check()
    assert await epoch_of(pair) == 1
    source = await pair.source()
    assert source is not None
    assert source.timeline == 3


async def test_what_an_asynchronous_standby_did_not_get_is_said_and_ends_the_epoch(
    make_pair: Callable[..., PairSite],
) -> None:
    site = make_pair(waits=False)
    load = Load(site, writers=2)
    await site.start_first_relay()
    site.primary.reload()  # the relay does not wait for the standby either
    async with load.running():
        await load.wait_for(30)
        await site.ready_for_failover()
        await load.wait_for(30)
        before = await load.names()
        site.cut_standby_off()
        after = await load.names()
        await load.wait_for(30)
    written = await load.names()
    await load.check()
    old = await greatest(site)
    site.fail_over()
    check_above(await site.wait_for_epoch(1), old)
    [said] = [json.loads(line) for line in site.log().splitlines() if "undid changes" in line]
    assert len(written - after) / 2 < said["events"] <= len(written - before) + 50
    assert said["transactions"] >= 30
    await still_works(site)


async def test_an_asynchronous_standby_ends_the_epoch_though_no_event_was_lost(
    make_pair: Callable[..., PairSite],
) -> None:
    """What was answered in the last moments may be lost without an event: clients look at everything anew."""
    site = make_pair(waits=False)
    load = Load(site, writers=2)
    await site.start_first_relay()
    async with load.running():
        await load.wait_for(30)
        await site.ready_for_failover()
    await load.check()
    old = await greatest(site)
    site.fail_over()
    check_above(await site.wait_for_epoch(1), old)
    assert "commits did not wait" in site.log()
    assert "undid changes" not in site.log()


async def test_commits_that_stop_to_wait_are_noticed(pair: PairSite) -> None:
    await pair.start_first_relay()
    await pair.ready_for_failover()
    pair.waits = False
    pair.await_standby("standby1")
    await pair.ready_for_failover()
    pair.waits = True
    pair.await_standby("standby1")
    await pair.ready_for_failover()


@pytest.mark.parametrize(
    "change", ["pg_drop_replication_slot('{slot}')", "pg_replication_slot_advance('{slot}', '{end}')"]
)
async def test_a_promoted_standby_whose_slot_is_gone_or_moved_begins_a_new_epoch(pair: PairSite, change: str) -> None:
    load = Load(pair, writers=2)
    relay = await pair.start_first_relay()
    async with load.running():
        await load.wait_for(30)
        await pair.ready_for_failover()
    await load.check()
    old = await greatest(pair)
    relay.kill()
    pair.fail_over()
    [(end,)] = pair.primary.ask("select pg_current_wal_lsn()")
    pair.run(f"select {change.format(slot=pair.settings.slot, end=end)}")
    pair.start_relay()
    check_above(await pair.wait_for_epoch(1), old)
    await still_works(pair)


async def test_an_old_primary_that_comes_back_is_not_followed_and_opens_no_epoch(pair: PairSite) -> None:
    load = Load(pair, writers=2)
    relay = await pair.start_first_relay()
    old = pair.primary
    async with load.running():
        await load.wait_for(30)
        await pair.ready_for_failover()
        pair.fail_over()
        await load.wait_for(30)
    await load.check()
    old.start()
    old.reload()  # it waits for nobody any more
    announce(pair, old, "of the dead")
    relay.kill()
    relay = pair.start_relay_at(old)

    async def refused() -> bool:
        return "an old primary?" in pair.log()

    await eventually(refused)
    await asyncio.sleep(2)
    assert await epoch_of(pair) == 1
    relay.kill()
    pair.start_relay_at(old, pair.primary)
    async with load.running():
        await load.wait_for(30)
    await load.check()
    assert await epoch_of(pair) == 1


async def test_an_old_primary_without_its_slot_was_restored_by_somebody_and_begins_a_new_epoch(pair: PairSite) -> None:
    load = Load(pair, writers=2)
    relay = await pair.start_first_relay()
    old = pair.primary
    async with load.running():
        await load.wait_for(30)
        await pair.ready_for_failover()
        pair.fail_over()
        await load.wait_for(30)
    await load.check()
    relay.kill()
    number = await greatest(pair)
    pair.primary.stop()
    old.start()
    old.reload()
    administer(old, f"select pg_drop_replication_slot('{pair.settings.slot}')")
    pair.postgres = old
    pair.start_relay_at(old)
    check_above(await pair.wait_for_epoch(1), number)
    await still_works(pair)


async def test_a_relay_left_at_an_old_primary_can_end_the_epoch_but_not_begin_one(pair: PairSite) -> None:
    """It publishes what is in no database that counts. Its successor notices, wherever in the stream that is."""
    left = pair.start_relay(TERTULIA_AUDIT_SECONDS="600")
    await pair.wait_for_log("caught up")
    old = pair.primary
    await pair.ready_for_failover()
    announce(pair, old, "before")
    before = await stored_names(pair, {"before"})
    pair.promote()
    relay = pair.start_relay_at(pair.primary)
    await pair.wait_for_log("a standby was promoted, and nothing was lost")
    old.reload(synchronous_standby_names="standby1")  # its relay does not wait for the standby any more
    announce(pair, old, "of the dead")
    await stored_names(pair, {"before", "of the dead"})
    relay.kill()  # the next one does not know what this one has seen
    announce(pair, pair.primary, "after")
    pair.start_relay_at(pair.primary)
    check_above((record := await pair.wait_for_epoch(1)), before)
    await stored_names(pair, {"after"})
    assert "undid changes" in pair.log()
    announce(pair, old, "of the dead again")
    await pair.wait_for_log("stand-by")  # it has gone over to the other host
    assert left.is_alive()
    assert await epoch_of(pair) == record.epoch


def announce(site: PairSite, node: Node, name: str) -> None:
    """An event at that node, of shard 0."""
    body = f"""pg_current_xact_id()::text || ' {{"name": "{name}"}}'"""
    statement = f"set synchronous_commit = local; select pg_logical_emit_message(true, 'ev.0.0', {body})"
    administer(node, statement, site.database)


async def stored_names(site: PairSite, names: set[str]) -> int:
    """Until exactly these are in the log, or in the new one at least these; the greatest number."""

    async def are_stored() -> bool:
        found = [name_of(one) for events in (await site.stored()).values() for one in events]
        return names <= set(found) and len(found) == len(set(found))

    await eventually(are_stored)
    return await greatest(site)
