"""Before PostgreSQL 17 nobody keeps a slot for the standby; Patroni copies the slot's file there."""

import asyncio
import os
import shutil

import asyncpg
import pytest

from tertulia.engines import find_postgres
from tertulia.engines.account import engine_account
from tertulia.engines.find import postgres_version
from tertulia.kernel.settings import load_settings
from tests.system.pair_site import PairSite, make_pair, pair
from tests.system.postgres_node import SLOTS_ARE_SYNCHRONISED_SINCE
from tests.system.relay_load import EMIT, Load
from tests.system.relay_site import database, eventually
from tests.system.test_relay_epochs import check_above, epoch_of, greatest

__all__ = ["make_pair", "pair"]
pytestmark = [pytest.mark.system, pytest.mark.slow, pytest.mark.timeout(300)]

if (postgres_version(find_postgres(load_settings())) or 0) >= SLOTS_ARE_SYNCHRONISED_SINCE:
    pytest.skip("from 17 on PostgreSQL does it by itself", allow_module_level=True)


async def test_a_copied_slot_repeats_what_is_stored_already_and_the_epoch_goes_on(pair: PairSite) -> None:
    load = Load(pair, writers=2)
    await pair.start_first_relay()
    async with load.running():
        await load.wait_for(30)
    await load.check()
    copy_slot(pair)
    async with load.running():
        await load.wait_for(30)
        await eventually(lambda: commits_wait(pair))
        pair.fail_over()
        await load.wait_for(30)
    await load.check()
    assert await epoch_of(pair) == 1


async def test_what_only_the_old_primary_had_was_told_nobody_and_the_epoch_goes_on(pair: PairSite) -> None:
    load = Load(pair, writers=2)
    await pair.start_first_relay()
    async with load.running():
        await load.wait_for(30)
    await load.check()
    copy_slot(pair)
    await eventually(lambda: commits_wait(pair))
    stored = await pair.count()
    pair.cut_standby_off()
    async with database(pair) as connection:
        waiting = asyncio.create_task(connection.execute(EMIT, ["00-lost"], ["ev.0.0"]))
        await asyncio.sleep(2.0)
        assert not waiting.done(), "the commit waits for the standby"
        assert await pair.count() == stored
        pair.fail_over()
        with pytest.raises((OSError, asyncpg.PostgresError)):
            await waiting
    async with load.running():
        await load.wait_for(30)
    await load.check()
    assert await epoch_of(pair) == 1


async def test_without_a_copy_of_the_slot_a_fail_over_begins_a_new_epoch(pair: PairSite) -> None:
    load = Load(pair, writers=2)
    await pair.start_first_relay()
    async with load.running():
        await load.wait_for(30)
        await eventually(lambda: commits_wait(pair))
    await load.check()
    old = await greatest(pair)
    pair.fail_over()
    check_above(await pair.wait_for_epoch(1), old)


async def commits_wait(site: PairSite) -> bool:
    source = await site.source()
    return source is not None and source.waits_since is not None


def copy_slot(site: PairSite) -> None:
    name = f"pg_replslot/{site.settings.slot}"
    site.standby.stop()
    copy = site.standby.cluster / name
    shutil.copytree(site.primary.cluster / name, copy)
    account = engine_account()
    if account is not None:
        for path in (copy, *copy.iterdir()):
            os.chown(path, account.uid, account.gid)
    site.standby.start()
