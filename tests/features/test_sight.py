"""Guests who do not see everybody hear of whom they come to see, and of whom they lose sight."""

import time

import pytest

from tertulia.channels.actions import subscribe
from tests.features.realm import Realm, listening
from tests.features.stage import at_once
from tests.server import GUEST, MEMBER, Channel
from tests.talk import Json, Queue, Speaker, check_error, check_success, unique


@pytest.fixture
def closed(realm: Realm) -> Realm:
    """Guests see only whom they share something with."""
    groups = {group["name"]: group["id"] for group in realm.owner.get("user_groups")["user_groups"]}
    new = {"new": groups["role:members"]}
    check_success(realm.owner.request("PATCH", "realm", can_access_all_users_group=new))
    return realm


def channel_of(realm: Realm, *people: Speaker) -> Channel:
    return realm.stage.channel(*people, realm_id=realm.id)


def joins(who: Speaker, channel: Channel) -> None:
    who.post("users/me/subscriptions", subscriptions=[{"name": channel.name}])


def leaves(who: Speaker, channel: Channel) -> None:
    who.delete("users/me/subscriptions", subscriptions=[channel.name])


def invites(realm: Realm, channel: Channel, *people: Speaker) -> None:
    ids = [one.id for one in people]
    realm.stage.write(lambda tx: subscribe(tx, realm.id, [channel.stream_id], ids))


def check_adds_up(queue: Queue) -> list[tuple[str, int]]:
    """What the queue's client knows is what a new registration says; the events of people, as (op, user id)."""
    known = {one["user_id"]: one | {"is_active": True} for one in queue.state["realm_users"]}
    known |= {one["user_id"]: one | {"is_active": False} for one in queue.state["realm_non_active_users"]}
    told = [event for event in queue.so_far() if event["type"] == "realm_user"]
    for event in told:
        person: Json = event["person"]
        if event["op"] == "add":
            assert person["user_id"] not in known
            known[person["user_id"]] = person | {"is_active": True}
        elif event["op"] == "remove":
            del known[person["user_id"]]
        else:
            known[person["user_id"]] |= person
    with listening(queue.speaker) as later:
        now = {one["user_id"]: one | {"is_active": True} for one in later.state["realm_users"]}
        now |= {one["user_id"]: one | {"is_active": False} for one in later.state["realm_non_active_users"]}
    assert known == now
    return [(event["op"], event["person"]["user_id"]) for event in told]


def test_somebody_joins_and_leaves_a_channel_of_the_guests(closed: Realm) -> None:
    channel = channel_of(closed, closed.guest)
    with listening(closed.guest, "subscription") as queue:
        joins(closed.member, channel)
        events = queue.until(lambda event: event.get("op") == "peer_add")
        assert [event["op"] for event in events] == ["add", "peer_add"]
        assert events[0]["person"]["full_name"] == "Somebody New"
    with listening(closed.guest) as queue:
        leaves(closed.member, channel)
        joins(closed.member, channel)
        assert check_adds_up(queue) == [("remove", closed.member.id), ("add", closed.member.id)]


def test_what_is_shared_twice_is_told_once(closed: Realm) -> None:
    first, second = channel_of(closed, closed.guest), channel_of(closed, closed.guest)
    with listening(closed.guest) as queue:
        joins(closed.member, first)
        joins(closed.member, second)
        closed.member.send([closed.guest.id])
        leaves(closed.member, first)
        leaves(closed.member, second)
        assert check_adds_up(queue) == [("add", closed.member.id)]


def test_a_guest_comes_into_a_channel_and_goes(closed: Realm) -> None:
    gone = closed.speaker(MEMBER)
    channel = channel_of(closed, closed.owner, closed.member, closed.bot(closed.owner), gone)
    closed.owner.delete(f"users/{gone.id}")
    ids = sorted([closed.owner.id, closed.member.id, gone.id])
    with listening(closed.guest) as queue:
        invites(closed, channel, closed.guest)
        told = check_adds_up(queue)
        assert [one for one in told if one[0] == "add"] == [("add", id) for id in ids]
    with listening(closed.guest) as queue:
        leaves(closed.guest, channel)
        assert check_adds_up(queue) == [("remove", id) for id in ids]


def test_two_guests_who_come_together_see_each_other(closed: Realm) -> None:
    other = closed.speaker(GUEST)
    channel = channel_of(closed, closed.owner)
    with listening(closed.guest) as queue, listening(other) as theirs:
        invites(closed, channel, closed.guest, other)
        assert ("add", other.id) in check_adds_up(queue)
        assert ("add", closed.guest.id) in check_adds_up(theirs)


def test_a_direct_message_brings_people_into_sight(closed: Realm) -> None:
    with listening(closed.guest) as queue:
        closed.member.send([closed.guest.id, closed.moderator.id])
        closed.member.send([closed.guest.id])
        told = check_adds_up(queue)
        assert sorted(told) == sorted([("add", closed.moderator.id), ("add", closed.member.id)])


def test_a_message_that_is_only_scheduled_or_refused_begins_no_conversation(closed: Realm) -> None:
    fields: Json = {"type": "direct", "to": [closed.guest.id]}
    due = int(time.time()) + 3600
    with listening(closed.guest) as queue:
        closed.member.post("scheduled_messages", **fields, content="Later", scheduled_delivery_timestamp=due)
        groups = {group["name"]: group["id"] for group in closed.owner.get("user_groups")["user_groups"]}
        quiet: Json = {"name": "quiet", "description": "", "members": [], "can_mention_group": groups["role:nobody"]}
        closed.owner.post("user_groups/create", **quiet)
        check_error(closed.member.request("POST", "messages", **fields, content="@*quiet*"))
        assert check_adds_up(queue) == []
    people = sorted([closed.member.id, closed.guest.id])
    begun = "select count(*) from conversation where realm_id = %s and participants = %s::bigint[]"
    assert closed.stage.sql(begun, closed.id, people) == [(0,)]
    with listening(closed.guest, "message") as queue:
        closed.stage.sql("update scheduled_message set due = now() where user_id = %s", closed.member.id)
        assert "Later" in queue.until(lambda event: event["type"] == "message")[-1]["message"]["content"]
    assert closed.stage.sql(begun, closed.id, people) == [(1,)]


def test_a_guest_cannot_write_to_somebody_out_of_sight(closed: Realm) -> None:
    for to in ([closed.member.id], [closed.member.email], [closed.member.id, closed.guest.id]):
        fields = {"type": "direct", "to": to, "content": "Hello"}
        unknown = check_error(closed.guest.request("POST", "messages", **fields))
        assert "There is no user" in unknown
    closed.member.send([closed.guest.id])
    closed.guest.send([closed.member.id])


def test_who_hides_their_address_comes_with_the_made_up_one(closed: Realm) -> None:
    check_success(closed.member.request("PATCH", "settings", email_address_visibility=4))
    channel = channel_of(closed, closed.guest)
    with listening(closed.guest) as queue:
        joins(closed.member, channel)
        assert check_adds_up(queue) == [("add", closed.member.id)]


def test_a_guest_who_comes_to_see_very_many_has_to_register_again(closed: Realm) -> None:
    channel = channel_of(closed, closed.owner)
    sql = """
    with made as (
        insert into account (realm_id, email, email_key, full_name, role)
        select %s, name, name, 'One of many', 400 from (select 'many' || n || '@example.com' as name
            from generate_series(1, 201) as n) as wanted
        returning id
    )
    insert into subscription (user_id, channel_id, color) select id, %s, '#76ce90' from made
    """
    closed.stage.sql(sql, closed.id, channel.stream_id)
    with listening(closed.guest) as queue, listening(closed.owner) as owners:
        invites(closed, channel, closed.guest)
        owners.so_far()
        assert queue.request().json()["code"] == "BAD_EVENT_QUEUE_ID"


def test_people_who_come_together_at_the_same_time_see_each_other(closed: Realm) -> None:
    for _ in range(5):
        guest, member = closed.speaker(GUEST), closed.speaker(MEMBER)
        channel, other = channel_of(closed, closed.owner), channel_of(closed, guest)
        name = unique("Name")
        with listening(guest) as queue:
            at_once([
                lambda: invites(closed, channel, guest),  # noqa: B023
                lambda: joins(member, channel),  # noqa: B023
                lambda: joins(member, other),  # noqa: B023
                lambda: leaves(guest, other),  # noqa: B023
                lambda: closed.administrator.request("PATCH", f"users/{member.id}", full_name=name),  # noqa: B023
            ])  # fmt: skip
            check_adds_up(queue)


def test_where_guests_see_everybody_nothing_is_told(realm: Realm) -> None:
    channel = channel_of(realm, realm.guest)
    with listening(realm.guest) as queue:
        joins(realm.member, channel)
        realm.moderator.send([realm.guest.id])
        assert check_adds_up(queue) == []
