"""PostgreSQL dies with all that it had not written yet, and gives the numbers of lost transactions to new ones."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import asyncpg
import psycopg2
import pytest

from tertulia.kernel.db import Database, OutcomeUnknown
from tertulia.kernel.postgres import GRACE_SECONDS, Limits
from tests.harness.forwarder import Forwarder
from tests.harness.server import OwnServer, Server
from tests.system.faults import Queue, crash_postgres

pytestmark = [pytest.mark.system, pytest.mark.slow]
LOST = 40


@pytest.fixture(scope="module")
def lazy_server(shared_folder: Path) -> Iterator[OwnServer]:
    """One whose PostgreSQL writes the log only when a commit makes it."""
    server = OwnServer.start(shared_folder)
    try:
        connection = psycopg2.connect(server.postgres_url)
        connection.autocommit = True
        with closing(connection), connection.cursor() as cursor:
            cursor.execute("alter system set wal_writer_delay = '10s'")
            cursor.execute("alter system set wal_writer_flush_after = '100MB'")
            cursor.execute("select pg_reload_conf()")
        yield server
    finally:
        server.stop()


async def test_what_happens_after_a_crash_is_heard_also_by_queues_that_saw_transactions_which_were_lost(
    lazy_server: OwnServer,
) -> None:
    user = lazy_server.members[0]
    for _ in range(3):
        async with Queue(user, lazy_server.url) as warm:
            await warm.hear(await warm.send_to_self())
            await asyncio.sleep(1.5)  # until the relay has written down how far it is: nobody commits from here on
            lost = await roll_back_many(lazy_server)
            async with Queue(user, lazy_server.url) as queue:
                await crash_postgres(lazy_server)
                await ready(lazy_server)
                is_reused = await next_transaction(lazy_server) <= lost
                for _ in range(LOST // 2):
                    message_id = await queue.send_to_self()
                    await queue.hear(message_id, seconds=10)
                if is_reused:
                    return
    raise AssertionError("no number was ever used again: this test shows nothing")


async def test_a_transaction_whose_number_was_lost_did_not_commit(server: Server) -> None:
    async with await Database.connect(server.postgres_url, shards=4, size=1) as database:
        async with database.transaction() as tx:
            xid = await tx.fetchval("select pg_current_xact_id()::text")
        assert await database.committed(xid)
        assert await database.committed(xid, ("select $1::int = 1", 1))
        assert not await database.committed(xid, ("select $1::int = 1", 2)), "somebody else's, under the same number"
        assert not await database.committed(str(int(xid) + 1_000_000)), "a number that nobody has yet"


async def test_a_commit_that_a_crash_undid_is_not_confirmed_by_whoever_has_its_number_now(
    lazy_server: OwnServer,
) -> None:
    limits = Limits(connect=2, pool=2, answer=GRACE_SECONDS + 1)
    for _ in range(5):
        with Forwarder(lazy_server.postgres_url) as way:
            async with await Database.connect(way.url, shards=4, size=2, limits=limits) as database:
                life = database._life.since
                async with database.writing_connection() as connection:
                    transaction = connection.transaction()
                    await transaction.start()
                    xid = await connection.fetchval("select pg_current_xact_id()::text")
                    way.freeze()
                    await crash_postgres(lazy_server)
                    await ready(lazy_server)
                    status = await commit_until(lazy_server, int(xid))
                    way.serve_new()
                    with pytest.raises((OutcomeUnknown, asyncpg.PostgresConnectionError)) as told:
                        await database._commit(connection, transaction, xid, life)
                if status == "committed":
                    assert told.type is OutcomeUnknown
                    return
    raise AssertionError("no number was ever used again: this test shows nothing")


async def commit_until(server: OwnServer, xid: int) -> str:
    """Commit something, so often that the number must have been given out again if it can be; what is said of it then."""
    connection = await asyncpg.connect(server.postgres_url)
    try:
        while await connection.fetchval("select pg_current_xact_id()::text::bigint") < xid:
            pass
        status: str = await connection.fetchval("select pg_xact_status($1::text::xid8)", str(xid))
        return status
    finally:
        await connection.close()


async def roll_back_many(server: OwnServer) -> int:
    """Transactions that leave nothing but WAL that nobody waits for; the last one's number."""
    connection = await asyncpg.connect(server.postgres_url)
    xid = 0
    try:
        for _ in range(LOST):
            transaction = connection.transaction()
            await transaction.start()
            sql = "select pg_current_xact_id()::text::bigint, pg_logical_emit_message(true, 'lost', repeat('x', 40000))"
            xid = await connection.fetchval(sql)
            await transaction.rollback()
    finally:
        connection.terminate()
    return xid


async def next_transaction(server: OwnServer) -> int:
    connection = await asyncpg.connect(server.postgres_url)
    try:
        number: int = await connection.fetchval("select pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
        return number
    finally:
        await connection.close()


async def ready(server: OwnServer) -> None:
    async with asyncio.timeout(30):
        while True:
            try:
                connection = await asyncpg.connect(server.postgres_url, timeout=2)
            except (OSError, asyncpg.PostgresError):
                await asyncio.sleep(0.05)
                continue
            await connection.close()
            return
