"""A standby of PostgreSQL is promoted while people talk: through the front door."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import asyncpg
import pytest

from tertulia.engines import find_postgres
from tertulia.engines.find import postgres_version
from tertulia.kernel.db import LOST, Database, OutcomeUnknown
from tertulia.kernel.postgres import GRACE_SECONDS, Limits
from tertulia.kernel.settings import load_settings
from tertulia.organization.realms.actions import create_realm
from tertulia.people.users.actions import create_api_key, create_user
from tests.harness.server import MEMBER, User
from tests.system.chatter import Chatter
from tests.system.faults import Queue
from tests.system.pair_site import PairSite, make_pair, pair
from tests.system.postgres_node import SLOTS_ARE_SYNCHRONISED_SINCE
from tests.system.web_process import WebProcess

__all__ = ["make_pair", "pair"]
pytestmark = [pytest.mark.system, pytest.mark.slow, pytest.mark.timeout(400)]
SHARDS = 4
LOST_NUMBERS = 40

if (postgres_version(find_postgres(load_settings())) or 0) < SLOTS_ARE_SYNCHRONISED_SINCE:
    pytest.skip("before 17 a standby has no copy of the slot", allow_module_level=True)


async def test_everybody_hears_everything_once_and_no_queue_ends_when_the_standby_takes_over(
    make_pair: Callable[..., PairSite], tmp_path: Path
) -> None:
    site = make_pair(shards=SHARDS)
    await site.start_first_relay()
    site.start_relay()
    with webs(site, tmp_path, 2) as urls:
        chatter = Chatter(site, urls, random.Random(15))
        async with chatter.running():
            await chatter.progress(sends=20)
            await site.ready_for_failover()
            began = time.monotonic()
            await asyncio.to_thread(site.fail_over)
            await chatter.progress(sends=1, seconds=120)
            print(f"everybody heard something new {time.monotonic() - began:.1f} s after the primary was killed")
            await chatter.progress(sends=20, seconds=120)
    print(chatter.summary)
    assert chatter.registrations == len(chatter.listeners), "no queue had to die for this"


async def test_queues_end_when_an_asynchronous_standby_takes_over(
    make_pair: Callable[..., PairSite], tmp_path: Path
) -> None:
    """The sender was told that the message is stored, everybody was told of it, and it is gone: all look anew."""
    site = make_pair(shards=SHARDS, waits=False)
    await site.start_first_relay()
    site.primary.reload()  # the relay does not wait for the standby either
    await site.ready_for_failover()
    async with person(site) as user:
        with webs(site, tmp_path, 1) as [url]:
            async with Queue(user, url) as queue:
                await queue.hear(await queue.send_to_self())
                await asyncio.to_thread(site.cut_standby_off)
                await queue.hear(await queue.send_to_self())
                await asyncio.to_thread(site.fail_over)
                await queue.ends_within(60)
                await queue.register()
                await queue.hear(await queue.send_to_self())
    assert "undid changes" in site.log()


async def test_numbers_of_transactions_that_the_standby_never_saw_hide_nothing_from_queues(
    make_pair: Callable[..., PairSite], tmp_path: Path
) -> None:
    """They are given out again, at positions that the old primary had passed when the queue was made."""
    site = make_pair(shards=SHARDS)
    await site.start_first_relay()
    async with person(site) as user:
        with webs(site, tmp_path, 1) as [url]:
            async with Queue(user, url) as warm:
                await warm.hear(await warm.send_to_self())
            await site.ready_for_failover()
            await asyncio.sleep(1.5)  # until the relay has written down how far it is: nobody commits from here on
            await asyncio.to_thread(site.cut_standby_off)
            lost = await roll_back_many(site)
            async with Queue(user, url) as queue:
                await asyncio.to_thread(site.fail_over)
                assert await next_number(site) <= lost, "no number is used again: this test shows nothing"
                for _ in range(5):
                    await queue.hear(await queue.send_to_self(), seconds=60)
    assert "nothing was lost" in site.log()


async def test_a_commit_that_the_standby_never_saw_is_not_confirmed_by_whoever_has_its_number_now(
    pair: PairSite,
) -> None:
    pair.cut_standby_off()
    limits = Limits(connect=2, pool=2, answer=GRACE_SECONDS + 1)
    async with await Database.connect(pair.postgres_url, shards=SHARDS, size=2, limits=limits) as database:
        life = database._life.since
        async with database.writing_connection() as connection:
            transaction = connection.transaction()
            await transaction.start()
            xid = await connection.fetchval("select pg_current_xact_id()::text")
            pair.fail_over()
            pair.primary.reload()
            async with connected(pair) as other:
                while await other.fetchval("select pg_current_xact_id()::text::bigint") < int(xid):
                    pass
                assert await other.fetchval("select pg_xact_status($1::text::xid8)", xid) == "committed"
            with pytest.raises((OutcomeUnknown, *LOST)) as told:
                await database._commit(connection, transaction, xid, life)
    assert told.type is OutcomeUnknown


@contextmanager
def webs(site: PairSite, folder: Path, count: int) -> Iterator[list[str]]:
    """Web processes, by their addresses."""
    settings = {"shards": SHARDS, "storage_folder": folder / "files"}
    started = [WebProcess(site, folder / f"web{number}.log", **settings) for number in range(count)]
    for web in started:
        web.start()
    try:
        for web in started:
            web.await_ready(90)
        yield [web.url for web in started]
    finally:
        for web in started:
            web.kill()


@asynccontextmanager
async def person(site: PairSite) -> AsyncIterator[User]:
    """Somebody of an organization of their own."""
    async with (
        await Database.connect(site.postgres_url, shards=SHARDS, size=1) as database,
        database.transaction() as tx,
    ):
        realm_id = await create_realm(tx, "", "Somewhere")
        user_id = await create_user(tx, realm_id, "ana@example.com", "Ana", MEMBER)
        user = User(user_id, "ana@example.com", None, await create_api_key(tx, user_id), MEMBER)
    yield user


@asynccontextmanager
async def connected(site: PairSite) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    connection = await asyncpg.connect(site.postgres_url, timeout=20)
    try:
        yield connection
    finally:
        connection.terminate()


async def roll_back_many(site: PairSite) -> int:
    """Transactions that leave nothing but WAL that nobody waits for; the last one's number."""
    xid = 0
    async with connected(site) as connection:
        for _ in range(LOST_NUMBERS):
            transaction = connection.transaction()
            await transaction.start()
            sql = "select pg_current_xact_id()::text::bigint, pg_logical_emit_message(true, 'lost', repeat('x', 10000))"
            xid = await connection.fetchval(sql)
            await transaction.rollback()
        # All of this is on the primary's disk, as what a queue sees must be.
        await connection.execute("set synchronous_commit = local; create temporary table flushed ()")
    return xid


async def next_number(site: PairSite) -> int:
    async with connected(site) as connection:
        number: int = await connection.fetchval("select pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
        return number
