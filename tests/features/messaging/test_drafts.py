"""What keeping drafts costs."""

import json

import pytest

import tertulia.messaging.drafts.routes
from tests.harness.counting import counting
from tests.harness.realm import Realm
from tests.harness.server import Server
from tests.harness.stage import Stage
from tests.harness.talk import check_error

MANY = 30


@pytest.fixture
def realm(stage: Stage) -> Realm:
    return Realm(stage)


@pytest.fixture
def channels(realm: Realm) -> list[int]:
    return [realm.stage.channel(realm.owner, realm.guest, realm_id=realm.id).stream_id for _ in range(2)]


async def test_the_number_of_statements_does_not_grow_with_the_drafts(
    realm: Realm, channels: list[int], server: Server
) -> None:
    people = [one.id for one in realm.all]
    text = {"topic": "tea", "content": "Text"}
    in_channels = [{"type": "stream", "to": [channels[number % 2]], **text} for number in range(MANY)]
    to_people = [{"type": "private", "to": people[: number % 5], **text} for number in range(MANY)]
    async with counting(server.postgres_url, tertulia.messaging.drafts.routes) as counter:

        async def cost(number: int) -> int:
            drafts = json.dumps([*in_channels[-number:], *to_people[-number:]])
            return await counter.cost(realm.guest.user, "POST", "/drafts", realm.host, drafts=drafts)

        assert await cost(1) == await cost(MANY)
    kept = realm.guest.get("drafts")["drafts"]
    assert len(kept) == 2 * MANY + 2
    assert {tuple(draft["to"]) for draft in kept if draft["type"] == "stream"} == {(one,) for one in channels}


def test_of_many_drafts_the_wrong_one_is_named(realm: Realm) -> None:
    known, unknown = realm.owner.id, Realm(realm.stage).owner.id
    drafts = [{"type": "private", "to": [one], "topic": "", "content": "Text"} for one in (known, unknown)]
    assert str(unknown) in check_error(realm.member.request("POST", "drafts", drafts=drafts))
    assert realm.member.get("drafts")["count"] == 0
