"""Web Push where very much is told: whoever is told one thing does not wait for it, and what waits has a bound."""

from collections.abc import Iterator

import pytest

from tertulia.kernel.db import Transaction
from tertulia.notifications.push.bounds import CALLS
from tertulia.notifications.push.queries import claim, insert_calls
from tests.harness.bot_server import BotServer, bot_server
from tests.harness.push_service import Browser
from tests.harness.realm import Realm


@pytest.fixture
def service() -> Iterator[BotServer]:
    with bot_server() as server:
        server.answer = lambda _posted: (201, "text/plain", b"")
        yield server


def test_who_is_told_very_much_keeps_nobody_waiting_who_is_told_one_thing(realm: Realm, service: BotServer) -> None:
    ids = [realm.owner.send([realm.member.id]) for _ in range(10)]
    last = realm.owner.send([realm.moderator.id])
    told = [(realm.member.id, one) for one in ids] + [(realm.moderator.id, last)]
    for number, one in enumerate((realm.member, realm.moderator)):
        Browser(service, f"/push/{number}").subscribe(one)

    async def claimed(tx: Transaction) -> list[int]:
        await insert_calls(tx, [(user_id, message_id, "direct_message") for user_id, message_id in told])
        long_ago = "update push_call set due = now() - interval '1 hour' where message_id = any($1::bigint[])"
        await tx.execute(long_ago, ids)
        busy = "select id from account where realm_id <> $1"
        others = [row["id"] for row in await tx.fetch(busy, realm.id)]
        found = await claim(tx, 2, (others, []), 60)
        await tx.execute("delete from push_call where message_id = any($1::bigint[])", [*ids, last])
        return sorted(push.user_id for push in found)

    assert realm.stage.write(claimed) == sorted((realm.member.id, realm.moderator.id))


def test_no_more_pushes_wait_for_a_browser_than_anybody_looks_at(realm: Realm, service: BotServer) -> None:
    ids = [realm.owner.send([realm.member.id]) for _ in range(CALLS.limit + 2)]
    Browser(service).subscribe(realm.member)

    async def waiting_then(tx: Transaction) -> list[int]:
        counts = []
        for portion in (ids[:50], ids[50:]):
            await insert_calls(tx, [(realm.member.id, message_id, "direct_message") for message_id in portion])
            counted = "select count(*) from push_call where message_id = any($1::bigint[])"
            counts.append(int(await tx.fetchval(counted, ids)))
        await tx.execute("delete from push_call where message_id = any($1::bigint[])", ids)
        return counts

    assert realm.stage.write(waiting_then) == [50, CALLS.limit]
