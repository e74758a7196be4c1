"""Subscribing from the inside: many at once, two at once, and what changes of groups mean for who sees what."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

import tertulia.conversations.channels.listing.routes
import tertulia.conversations.channels.routes
from tertulia.conversations.channels.traffic import count_traffic
from tertulia.kernel.db import Database
from tertulia.kernel.settings import Settings
from tests.contract.groups import anonymous, make_group
from tests.contract.subscribing import ask, find, join, leave, make, members, sees
from tests.harness.counting import counting
from tests.harness.realm import Realm
from tests.harness.server import Server
from tests.harness.stage import Backstage, Stage
from tests.harness.talk import Json, Queue, Speaker, check_error, unique


@pytest.fixture(scope="module")
def crowd(server: Server, backstage: Backstage) -> Iterator[tuple[Realm, list[int]]]:
    """A realm with 10,000 more people in it."""
    shared_stage = Stage(server, backstage)
    realm = Realm(shared_stage)
    rows = shared_stage.sql(
        """
        insert into account (realm_id, email, email_key, full_name)
        select %s, 'c' || n || '@example.com', 'c' || n || '@example.com', 'Crowd ' || n from generate_series(1, 10000) as n
        returning id
        """,
        realm.id,
    )
    shared_stage.sql("analyze account")
    yield realm, sorted(row[0] for row in rows)
    shared_stage.close()


@pytest.mark.timed
def test_ten_thousand_people_are_subscribed_in_two_seconds(crowd: tuple[Realm, list[int]]) -> None:
    realm, people = crowd
    channel = make(realm.member)
    began = time.monotonic()
    reply = join(realm.member, channel["name"], principals=people)
    took = time.monotonic() - began
    assert len(reply["subscribed"]) == len(people)
    assert reply["new_subscription_messages_sent"] is False
    assert find(realm.member, channel["name"])["subscriber_count"] == len(people) + 1
    print(f"10,000 people subscribed in {took:.2f} s")
    assert took < 8  # 2 on a machine of its own; that of the tests is shared


async def test_the_number_of_statements_depends_on_nobody(crowd: tuple[Realm, list[int]], stage: Stage) -> None:
    realm, people = crowd
    user, host = realm.owner.user, realm.host
    async with counting(stage.server.postgres_url, tertulia.conversations.channels.routes) as counter:

        async def cost(names: list[str], principals: list[int], **fields: str) -> int:
            wanted = "[" + ",".join(f'{{"name": "{name}"}}' for name in names) + "]"
            asked = {"subscriptions": wanted, "principals": str(principals), **fields}
            return await counter.cost(user, "POST", "users/me/subscriptions", host, **asked)

        def names(count: int) -> list[str]:
            return [unique("channel") for _ in range(count)]

        # Of two or more: several conversations are locked in another way than one.
        one = await cost(names(2), people[:1])
        assert await cost(names(30), people[:200]) == one
        private = await cost(names(2), people[:1], invite_only="true")
        assert await cost(names(30), people[:200], invite_only="true") == private
        known = names(30)
        await cost(known, people[:1])
        again = await cost(known[:2], people[1:2])
        # Several conversations are locked without waiting for one while others are held: two statements more, once.
        assert again == await cost(known[:1], people[102:103]) + 2
        assert await cost(known, people[2:102], send_new_subscription_messages="false") <= again
        assert max(one, private) <= 33
        print(f"statements: {one} for new public channels, {private} for private ones, {again} for existing ones")


async def test_lists_take_the_same_statements_however_long_they_are(realm: Realm, stage: Stage) -> None:
    async with counting(stage.server.postgres_url, tertulia.conversations.channels.listing.routes) as counter:

        async def costs() -> list[int]:
            user, host = realm.member.user, realm.host
            return [
                await counter.cost(user, "GET", "streams", host, include_all="true"),
                await counter.cost(user, "GET", "users/me/subscriptions", host, include_subscribers="true"),
            ]

        join(realm.member, unique("channel"))
        few = await costs()
        join(realm.member, *(unique("channel") for _ in range(50)))
        join(realm.member, *(unique("channel") for _ in range(50)), invite_only=True)
        assert await costs() == few


def test_two_who_make_the_same_channel_at_once_both_end_up_in_it(realm: Realm) -> None:
    others = [realm.speaker() for _ in range(6)]
    for _ in range(5):
        names = [unique("channel") for _ in range(4)]
        with ThreadPoolExecutor(len(others)) as pool:
            asked = [
                pool.submit(ask, who, *(names if number % 2 else names[::-1])) for number, who in enumerate(others)
            ]
            replies = [one.result() for one in asked]
        for who, reply in zip(others, replies, strict=True):
            assert reply.status_code == 200, reply.text
            assert sorted(reply.json()["subscribed"][str(who.id)]) == sorted(names)
        for name in names:
            channel = find(realm.member, name)
            assert members(realm.member, channel) == sorted(who.id for who in others)
            assert channel["subscriber_count"] == len(others)
    orphans = realm.stage.sql(
        """
        select count(*) from conversation where realm_id = %s and participants is null
            and not exists (select from channel where channel.id = conversation.id)
        """,
        realm.id,
    )
    assert orphans == [(0,)]


def test_a_private_channel_made_by_somebody_else_at_once_is_out_of_reach(realm: Realm) -> None:
    first, second = realm.speaker(), realm.speaker()
    for _ in range(5):
        name = unique("channel")
        with ThreadPoolExecutor(2) as pool:
            asked = [pool.submit(ask, who, name, invite_only=True) for who in (first, second)]
            codes = sorted(one.result().status_code for one in asked)
        assert codes == [200, 400]


def test_joining_and_leaving_at_once_keeps_the_count(realm: Realm) -> None:
    people = [realm.speaker() for _ in range(5)]
    channels = [make(realm.owner), make(realm.owner)]
    names = [channel["name"] for channel in channels]
    ids = [who.id for who in people]

    def come_and_go(number: int) -> None:
        for _ in range(4):
            join(realm.owner if number % 2 else people[number], *names[:: 1 if number % 2 else -1], principals=ids)
            leave(realm.owner, *names, principals=ids)

    with ThreadPoolExecutor(len(people)) as pool:
        for done in [pool.submit(come_and_go, number) for number in range(len(people))]:
            done.result()
    for channel in channels:
        assert find(realm.owner, channel["name"])["subscriber_count"] == len(members(realm.owner, channel))


def test_a_change_of_a_group_that_shows_a_private_channel_ends_the_queues_of_those_it_concerns(realm: Realm) -> None:
    group = make_group(realm.owner)
    above = make_group(realm.owner, subgroups=[group])
    insider, bystander = realm.speaker(), realm.speaker()
    channel = make(realm.owner, invite_only=True, can_subscribe_group=anonymous([], [above, group]))
    assert not sees(insider, channel)
    with _listening(insider) as theirs, _listening(bystander) as others:
        realm.owner.post(f"user_groups/{group}/members", add=[insider.id])
        theirs.check_ends()
        others.so_far()
    assert sees(insider, channel)
    with _listening(insider) as theirs:
        assert channel["stream_id"] in _never(theirs.state)
        realm.owner.post(f"user_groups/{group}/members", delete=[insider.id])
        theirs.check_ends()
    assert not sees(insider, channel)
    within = make_group(realm.owner, [insider.id])
    with _listening(insider) as theirs:
        realm.owner.post(f"user_groups/{group}/subgroups", add=[within])
        theirs.check_ends()


def test_nobodys_queue_ends_for_whom_such_a_change_makes_no_difference(realm: Realm) -> None:
    group = make_group(realm.owner)
    make(realm.member, invite_only=True, can_subscribe_group=anonymous([], [group]))
    everybody = realm.all
    with ExitStack() as stack:
        queues = [stack.enter_context(_listening(one)) for one in everybody]
        realm.owner.post(f"user_groups/{group}/members", add=[one.id for one in everybody])
        for one, queue in zip(everybody, queues, strict=True):
            if one in (realm.moderator, realm.member):
                queue.check_ends()
            else:
                queue.so_far()  # administrators see the channel anyway, guests do not by a group


def test_a_change_of_any_other_group_ends_nothing(realm: Realm) -> None:
    group = make_group(realm.owner)
    make(realm.owner, can_subscribe_group=anonymous([], [group]))  # public: seen by every member anyway
    make(realm.owner, invite_only=True, can_send_message_group=anonymous([], [group]))
    with _listening(realm.member) as queue:
        realm.owner.post(f"user_groups/{group}/members", add=[realm.member.id])
        queue.so_far()


async def test_traffic_and_activity_follow_from_the_numbers_of_days(realm: Realm, stage: Stage) -> None:
    channel = make(realm.member)
    number = channel["stream_id"]
    realm.member.send(number, "topic")
    age = "update channel set date_created = now() - make_interval(days => %s), weekly_traffic = null where id = %s"
    stage.sql(age, 400, number)
    stage.sql("update conversation set last_seq = 100 + 4 * 30 where id = %s", number)
    stage.sql(
        "insert into channel_day values (%s, current_date - 40, 100), (%s, current_date - 20, 150)", number, number
    )
    stage.sql("delete from channel_day where day = current_date")
    async with await Database.connect(stage.server.postgres_url, shards=Settings().shards, size=1) as database:
        await count_traffic(database)
        assert find(realm.member, channel["name"])["stream_weekly_traffic"] == 30
        # The newest message counts, though others of higher numbers were deleted.
        assert find(realm.member, channel["name"])["is_recently_active"] is True


async def test_all_who_see_a_private_channel_hear_that_it_is_awake_or_asleep(realm: Realm, stage: Stage) -> None:
    number = make(realm.member, invite_only=True)["stream_id"]
    realm.member.send(number, "topic")
    stage.sql("update channel set date_created = now() - interval '400 days' where id = %s", number)
    stage.sql("update message set sent_at = now() - interval '300 days' where conversation_id = %s", number)
    stage.sql("delete from channel_day where day = current_date")
    async with await Database.connect(stage.server.postgres_url, shards=Settings().shards, size=1) as database:
        with (
            _listening(realm.owner) as owners,
            _listening(realm.member) as inside,
            _listening(realm.moderator) as others,
        ):
            await count_traffic(database)
            for queue in (owners, inside):
                events = [event for event in queue.so_far() if event.get("property") == "is_recently_active"]
                assert [(event["stream_id"], event["value"]) for event in events] == [(number, False)]
            assert others.so_far() == []


def _listening(speaker: Speaker) -> Queue:
    return Queue(speaker, event_types=["stream", "subscription", "message"], fetch_event_types=["subscription"])


def _never(state: Json) -> list[int]:
    return [channel["stream_id"] for channel in state["never_subscribed"]]


def test_settings_that_name_somebody_who_goes_are_told(realm: Realm) -> None:
    maker = realm.speaker()
    public, private = make(maker), make(maker, invite_only=True)
    with _listening(realm.owner) as owners, _listening(realm.member) as others:
        realm.owner.delete(f"users/{maker.id}")
        realm.owner.post(f"users/{maker.id}/reactivate")
        for queue, channels in ((owners, [public, private]), (others, [public])):
            told = [event for event in queue.so_far() if event["type"] == "stream"]
            assert [(event["stream_id"], event["property"], event["value"]) for event in told] == [
                (channel["stream_id"], "can_administer_channel_group", anonymous(people, []))
                for people in ([], [maker.id])
                for channel in channels
            ]


@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_so_many_addresses_at_once_are_refused_before_they_are_looked_for(realm: Realm, method: str) -> None:
    channel = make(realm.owner)
    names = [{"name": channel["name"]}] if method == "POST" else [channel["name"]]
    for count, told in ((1000, "no user with the email address"), (1001, "At most 1,000 email addresses")):
        people = [f"nobody{number}@example.com" for number in range(count)]
        reply = realm.owner.request(method, "users/me/subscriptions", subscriptions=names, principals=people)
        assert told in check_error(reply)
