"""Whoever makes others wait pays for it, and nobody holds many things while they wait for one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tertulia.conversations.channels.access import ChannelFinder
from tertulia.events.log.record import Audience, record
from tertulia.kernel.audit import request_under_way
from tertulia.kernel.call import Call
from tertulia.kernel.db import CLOSED_QUEUES, ENDED_QUEUE, Database, Transaction
from tertulia.kernel.locking import lock_all
from tertulia.kernel.settings import Settings
from tertulia.messaging.editing.history.differences import Differences, Step
from tertulia.messaging.sending.actions import Sending
from tertulia.messaging.sending.notices import Notices
from tertulia.people.users.directory import Directory
from tertulia.people.users.model import UserView
from tests.harness.realm import Realm
from tests.harness.server import Engines, Server

LOCK_TWO = "select id from two_rows order by id for share"


@pytest.fixture
async def database(engines: Engines) -> AsyncIterator[Database]:
    async with await Database.connect(engines.postgres.url_of("postgres"), shards=4, size=4) as database:
        async with database.transaction() as tx:
            await tx.execute("create table if not exists two_rows (id int primary key)")
            await tx.execute("insert into two_rows values (1), (2) on conflict do nothing")
        yield database


def a_call() -> Call:
    call = Call({"headers": [], "client": ("203.0.113.7", 1)}, no_more)
    call.while_frozen = True  # there is no organization that could be
    return call


async def no_more() -> dict[str, object]:
    return {"type": "http.disconnect"}


async def test_the_time_for_which_a_transaction_holds_others_back_is_its_callers(database: Database) -> None:
    holding, waiting = a_call(), a_call()
    for call in (holding, waiting):
        with request_under_way(call, None):
            async with database.transaction() as tx:
                if call is holding:
                    tx.holds_others_back()
                await tx.execute("select pg_sleep(0.6)")
    assert 0.3 < holding.database_seconds < 10
    assert waiting.database_seconds == 0  # it may have waited for others


async def test_it_is_so_too_if_the_transaction_fails(database: Database) -> None:
    async def fail() -> None:
        async with database.transaction() as tx:
            tx.holds_others_back()
            await tx.execute("select pg_sleep(0.6)")
            raise ZeroDivisionError

    call = a_call()
    with request_under_way(call, None), pytest.raises(ZeroDivisionError):
        await fail()
    assert call.database_seconds > 0.3


async def test_whoever_ends_the_queues_of_others_pays_for_their_registering_again(database: Database) -> None:
    call = a_call()
    with request_under_way(call, None):
        async with database.transaction() as tx:
            tx.emit(1, record(Audience(), "test", {}, ends=(1, 2, 3)))
    assert call.events == 1 + 3 * ENDED_QUEUE
    closing = record(Audience(realm=True), "test", {})
    closing = type(closing)(to=closing.to, type=closing.type, event=closing.event, closes=True)
    with request_under_way(call, None):
        async with database.transaction() as tx:
            tx.emit(1, closing)
    assert call.events == 2 + (3 + CLOSED_QUEUES) * ENDED_QUEUE


async def test_whoever_locks_several_rows_lets_go_of_all_while_one_is_not_to_be_had(database: Database) -> None:
    async def hold_second(tx: Transaction, until: asyncio.Event) -> None:
        await tx.execute("select from two_rows where id = 2 for update")
        await until.wait()

    async def lock_both() -> int:
        async with database.transaction() as tx:
            return len(await lock_all(tx, LOCK_TWO))

    released = asyncio.Event()
    async with database.transaction() as holder:
        holding = asyncio.create_task(hold_second(holder, released))
        await asyncio.sleep(0.2)
        locking = asyncio.create_task(lock_both())
        await asyncio.sleep(0.2)
        # The first row is free again and again: with `lock_timeout` of a second somebody else gets it each time.
        for _ in range(3):
            async with database.transaction() as other:
                await other.execute("set local lock_timeout = '1s'")
                await other.execute("select from two_rows where id = 1 for update")
        assert not locking.done()
        released.set()
        await holding
    assert await locking == 2


def test_all_is_marked_read_although_a_conversation_is_busy_for_a_moment(realm: Realm) -> None:
    channel = realm.stage.channel(realm.owner, realm.member, realm_id=realm.id)
    realm.owner.send(channel.stream_id, "topic", "unread")
    with realm.stage.session() as run:
        run("select from conversation where id = %s for update", channel.stream_id)
        marking = realm.member.later("POST", "mark_all_as_read")
        with pytest.raises(TimeoutError):
            marking.result(0.5)
    assert marking.result(30).status_code == 200
    assert realm.member.unread()["count"] == 0


@pytest.mark.parametrize(
    "held",
    [
        "select from account where id = %s for key share",  # as by somebody who stars very many messages
        "select from read_state where user_id = %s for update",  # or marks them read
    ],
)
def test_nobody_waits_to_send_while_who_marks_everything_read_waits_for_what_is_theirs(realm: Realm, held: str) -> None:
    channel = realm.stage.channel(realm.owner, realm.member, realm_id=realm.id)
    realm.owner.send(channel.stream_id, "topic", "unread")
    with realm.stage.session() as run:
        run(held, realm.member.id)
        marking = realm.member.later("POST", "mark_all_as_read")
        for _ in range(5):
            message = {"type": "stream", "to": channel.stream_id, "topic": "topic", "content": "hello"}
            assert realm.owner.later("POST", "messages", **message).result(5).status_code == 200
        assert not marking.done()
    assert marking.result(30).status_code == 200
    assert realm.member.unread()["count"] == 0


@asynccontextmanager
async def all_connections_in_use(server: Server) -> AsyncIterator[Database]:
    """Of one person, while the others have some left."""
    async with await Database.connect(server.postgres_url, shards=4, size=9, shared=True) as database:
        ended = asyncio.Event()

        async def keep_one(taken: asyncio.Event) -> None:
            with request_under_way(somebodys_call(), None):
                async with database.reader() as reader:
                    await reader.fetchval("select 1")
                    taken.set()
                    await ended.wait()

        held = [asyncio.Event() for _ in range(3)]
        tasks = [asyncio.create_task(keep_one(one)) for one in held]
        for one in held:
            await one.wait()
        with request_under_way(somebodys_call(), None):
            yield database
        ended.set()
        await asyncio.gather(*tasks)


async def test_the_list_of_people_is_made_although_whoever_asks_has_used_up_their_connections(
    realm: Realm, server: Server
) -> None:
    view = UserView(realm_id=realm.id, sees=(1, 2, 3, 4, 5), reader_id=1, domain="example.com")
    async with asyncio.timeout(20), all_connections_in_use(server) as database:
        listed = await Directory(database, 2**20).members(view, profile=False, gzip=False, known=())
    assert listed.body


async def test_differences_are_made_although_whoever_asks_has_used_up_their_connections(server: Server) -> None:
    steps = [Step(-1, "<p>one</p>", "<p>two</p>", None), Step(-2, "<p>two</p>", "<p>three</p>", None)]
    async with asyncio.timeout(20), all_connections_in_use(server) as database:
        made = await Differences(database).of(steps)
    assert made.keys() == {-1, -2}


async def test_notices_are_sent_although_whoever_sends_them_has_used_up_their_connections(
    realm: Realm, server: Server
) -> None:
    async with asyncio.timeout(20), all_connections_in_use(server) as database:
        # Other organizations' notices are on the way too: what matters is that it does not wait.
        sending = Sending.open(database, ChannelFinder(database), Settings(), ())
        await Notices(database, sending, Settings()).deliver()
        await sending.close()


def somebodys_call() -> Call:
    call = a_call()
    call.payer = "person 1"
    return call
