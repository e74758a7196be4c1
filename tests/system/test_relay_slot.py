"""The replication slot moves when we say so, and never by itself."""

import asyncio

import pytest

from tertulia.events.relay import checkpoint, wal
from tertulia.events.relay.replication import Replication, SlotTaken
from tests.system.relay_site import Site, database, eventually, make_site, relay_postgres, site

__all__ = ["make_site", "relay_postgres", "site"]
pytestmark = pytest.mark.system
EMIT = "select pg_logical_emit_message(true, 'ev.0.0', repeat('x', $1)) from generate_series(1, $2)"


async def test_a_long_transaction_does_not_make_the_driver_confirm_what_was_not_confirmed(site: Site) -> None:
    """A keepalive in the middle of an old transaction, after a newer one that is not confirmed: psycopg2 would."""
    async with database(site) as connection, database(site) as old:
        await checkpoint.create_slot(connection, site.settings.slot)
        transaction = old.transaction()
        await transaction.start()
        await old.execute(EMIT, 10_000, 3_000)
        replication = await Replication.open(site.postgres_url)
        await replication.start(site.settings.slot, site.settings.publication)
        await connection.execute(EMIT, 10, 1)
        confirmed = await read_commit(replication)
        replication.confirm(confirmed)
        await connection.execute(EMIT, 10, 1)
        unconfirmed = await read_commit(replication)
        await transaction.commit()
        await asyncio.sleep(0.5)  # the sender fills the socket and waits, in the middle of the transaction
        replication.confirm(0)  # asks it for a keepalive there
        await asyncio.sleep(0.5)
        assert await read_commit(replication) > unconfirmed
        for _ in range(3):
            replication.confirm(0)
            await asyncio.sleep(0.2)
            assert replication.read() is None
        slot = await checkpoint.find_slot(connection, site.settings.slot)
        assert slot is not None
        assert slot.confirmed == confirmed
        replication.close()


async def test_a_slot_has_one_reader_and_is_free_again_when_that_one_leaves(site: Site) -> None:
    async with database(site) as connection:
        await checkpoint.create_slot(connection, site.settings.slot)
        first = await Replication.open(site.postgres_url)
        await first.start(site.settings.slot, site.settings.publication)
        second = await Replication.open(site.postgres_url)
        with pytest.raises(SlotTaken):
            await second.start(site.settings.slot, site.settings.publication)
        second.close()
        first.close()

        async def free() -> bool:
            slot = await checkpoint.find_slot(connection, site.settings.slot)
            return slot is not None and not slot.active

        await eventually(free, 5)


async def read_commit(replication: Replication) -> int:
    """Read to the end of the next transaction."""
    async with asyncio.timeout(20):
        while True:
            payload = replication.read()
            if payload is None:
                await replication.readable()
            elif isinstance(message := wal.parse(payload), wal.Commit):
                return message.end_lsn
